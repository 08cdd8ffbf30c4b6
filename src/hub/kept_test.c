#include "base/base.h"
#include "hub/eras.h"
#include "hub/scene_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static struct hub_scene scene;

/* As if written so many hours ago. */
static void grow_old(const char *name, unsigned hours)
{
	const time_t then = (time_t)(loop_wall_ms() / 1000) - (time_t)hours * 3600;
	const struct timespec times[] = { { .tv_sec = then }, { .tv_sec = then } };

	assert_int_equal(utimensat(AT_FDCWD, in_scratch(name), times, 0), 0);
}

static const char *cached_schemas(void)
{
	DIR *directory = opendir(in_scratch("cache"));
	struct dirent *entry;
	const char *found = NULL;
	unsigned others = 0;

	while ((entry = readdir(directory)))
		if (str_starts_with(str_of(entry->d_name), STR("schemas-")))
			found = arena_printf(&hub_scratch.arena, "cache/%s", entry->d_name).p;
		else
			others += entry->d_name[0] != '.' &&
				  !str_eq(str_of(entry->d_name), STR("upstream-eras.json"));
	closedir(directory);
	assert_int_equal(others, 0);
	return found;
}

/* The life of a hub that leaves its lists on disk. */
static void read_and_keep(const char *config)
{
	open_keeping(&scene, config);
	all_ready(&scene);
	hub_scene_close(&scene);
}

static void what_was_read_answers_before_any_server_starts(void **state)
{
	const char *config = one_server("\"--starts\",\"~/starts\",\"--tools\",\"2\"", "");

	(void)state;
	read_and_keep(config);
	assert_int_equal(count_lines("starts"), 1);
	assert_non_null(cached_schemas());
	/* Another life, from another terminal. */
	stage_environment[4] = "WINDOWID=17";
	open_keeping(&scene, config);
	assert_true(lists(&scene, "files", "tool1"));
	all_ready(&scene);
	assert_int_equal(count_lines("starts"), 1);
	assert_has(describe_server(&scene, "files"), "\"schemaAgeSec\":");
	hub_scene_close(&scene);
}

static void a_damaged_cache_is_as_good_as_none(void **state)
{
	static const char *const damaged[] = {
		"", "{\"format\":1,\"fetchedAt\":1,\"instructions\":\"\",\"tools\":[{\"na", "[1,2,3]"
	};
	const char *config = one_server("\"--starts\",\"~/starts\"", "");
	const char *file;

	(void)state;
	read_and_keep(config);
	file = cached_schemas();
	for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
		scratch_write(&hub_scratch, file, damaged[i]);
		open_keeping(&scene, config);
		assert_null(server_named(&scene, "files")->snapshot);
		all_ready(&scene);
		assert_true(lists(&scene, "files", "echo"));
		assert_int_equal(count_lines("starts"), i + 2);
		hub_scene_close(&scene);
	}
	/* A clock that was wrong then. */
	scratch_write(
		&hub_scratch, file,
		"{\"format\":1,\"fetchedAt\":99999999999999,\"instructions\":\"\",\"tools\":[{\"name\":\"x\"}]}");
	open_keeping(&scene, config);
	assert_has(describe_server(&scene, "files"), "\"schemaAgeSec\":0");
	hub_scene_close(&scene);
}

static void the_newest_list_is_the_one_on_disk(void **state)
{
	struct caller c;

	(void)state;
	open_keeping(&scene, one_server("", ""));
	all_ready(&scene);
	for (int i = 0; i < 5; i++)
		(void)call_now(&c, &scene, "files", "change", "{}");
	AWAIT(lists(&scene, "files", "new4"));
	/* Files still being written are waited for. */
	hub_scene_close(&scene);
	open_keeping(&scene, one_server("", ""));
	assert_true(lists(&scene, "files", "new4"));
	hub_scene_close(&scene);
}

static void a_cache_that_cannot_be_written_costs_nothing_else(void **state)
{
	(void)state;
	hub_scene_init(&scene);
	scene.limits.cache_dir = in_scratch("not-there");
	scene.limits.keep_eras = true;
	hub_scene_open(&scene, one_server("", ""));
	all_ready(&scene);
	assert_true(lists(&scene, "files", "echo"));
	AWAIT(events_of(&scene, "cache.write ") >= 2);
	assert_has(buf_cstr(&scene.events), "not-there");
	hub_scene_close(&scene);
}

/* Of a hub that lives for one call: so many processes were started by then. */
static void expect_starts(const char *config, size_t count)
{
	struct caller c;

	open_keeping(&scene, config);
	(void)call_now(&c, &scene, "files", "echo", "{}");
	assert_int_equal(count_lines("starts"), count);
	hub_scene_close(&scene);
}

static void the_era_of_a_server_is_remembered(void **state)
{
	const char *config = one_server(
		"\"--only-initialize\",\"--fail-while\",\"~/broken\",\"--starts\",\"~/starts\"", "");
	struct caller c;

	(void)state;
	expect_starts(config, 2);
	expect_starts(config, 3);
	/* A start that fails casts doubt on it. */
	scratch_write(&hub_scratch, "broken", "");
	open_keeping(&scene, config);
	call(&c, &scene, "files", "echo", "{}");
	expect_error(&c, ERR_CLOSED, MCP_NOT_SENT, "there is no key");
	hub_scene_close(&scene);
	remove_in_scratch("broken");
	assert_int_equal(count_lines("starts"), 4);
	expect_starts(config, 6);
}

static void catalogues_that_no_server_has_go_with_age_and_number(void **state)
{
	static const char *const others[] = { "schemas-0000000000000001.json",
					      "schemas-0000000000000002.json",
					      "schemas-0000000000000003.json" };
	const char *used;
	struct caller c;

	(void)state;
	open_keeping(&scene, one_server("", ""));
	call_now(&c, &scene, "files", "pid", "{}");
	know_tools(&scene, "files");
	used = arena_printf(&hub_scratch.arena, "cache/schemas-%.*s.json",
			    STR_ARG(server_named(&scene, "files")->process_id))
		       .p;
	hub_scene_close(&scene);
	assert_true(in_scratch_is(used));
	/* All written an hour ago and more, the first longest. */
	grow_old(used, 99);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const char *name = arena_printf(&hub_scratch.arena, "cache/%s", others[i]).p;

		scratch_write(&hub_scratch, name, "{}");
		grow_old(name, (unsigned)(ARRAY_LEN(others) - i));
	}
	scratch_write(&hub_scratch, "cache/" ERAS_FILE,
		      "{\"0000000000000001\":\"legacy\",\"0000000000000003\":\"modern\"}");
	scratch_write(&hub_scratch, "cache/notes.json", "{}");
	/* By their number first, then by their age. */
	hub_scene_init(&scene);
	scene.limits.cache_dir = cache_dir();
	scene.limits.keep_eras = true;
	scene.limits.keep_ms = (uint64_t)90 * 60 * 1000;
	scene.limits.keep_files = 2;
	hub_scene_open(&scene, one_server("", ""));
	AWAIT(!scene.hub->prune);
	assert_false(in_scratch_is("cache/schemas-0000000000000001.json"));
	assert_false(in_scratch_is("cache/schemas-0000000000000002.json"));
	assert_true(in_scratch_is("cache/schemas-0000000000000003.json"));
	assert_true(in_scratch_is("cache/notes.json"));
	/* What a server has stays, however old. Eras go with their catalogues. */
	assert_true(in_scratch_is(used));
	assert_int_equal(eras_get(scene.hub->eras, STR("0000000000000001")), -1);
	assert_int_equal(eras_get(scene.hub->eras, STR("0000000000000003")), MCP_MODERN);
	/* Once no server has it, it is like the others. */
	hub_scene_reload(&scene, "{}");
	AWAIT(!scene.hub->prune);
	assert_false(in_scratch_is(used));
	hub_scene_close(&scene);
}

static void a_warm_hub_looks_behind_its_cache(void **state)
{
	const char *config = one_server("\"--starts\",\"~/starts\"", "");

	(void)state;
	read_and_keep(config);
	scratch_write(&hub_scratch, cached_schemas(),
		      "{\"format\":1,\"fetchedAt\":1,\"instructions\":\"\",\"tools\":[{\"name\":\"old\"}]}");
	hub_scene_init(&scene);
	scene.limits.warm = true;
	scene.limits.cache_dir = cache_dir();
	hub_scene_open(&scene, config);
	/* Known at once, and then known better. */
	assert_true(lists(&scene, "files", "old"));
	AWAIT(lists(&scene, "files", "echo"));
	assert_false(lists(&scene, "files", "old"));
	assert_int_equal(scene.changes, 1);
	hub_scene_close(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HUB(what_was_read_answers_before_any_server_starts),
		IN_HUB(a_damaged_cache_is_as_good_as_none),
		IN_HUB(the_newest_list_is_the_one_on_disk),
		IN_HUB(a_cache_that_cannot_be_written_costs_nothing_else),
		IN_HUB(the_era_of_a_server_is_remembered),
		IN_HUB(catalogues_that_no_server_has_go_with_age_and_number),
		IN_HUB(a_warm_hub_looks_behind_its_cache),
	};

	return RUN_IN_HUB(tests);
}
