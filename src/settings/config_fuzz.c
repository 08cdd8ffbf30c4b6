/*
 * Loads whatever comes as a configuration file, shows all of it, and asks a daemon for it in a header.
 */
#include "base/base.h"
#include "settings/config.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/fuzz_expand.h"
#include "settings/record.h"
#include "settings/registry.h"
#include "settings/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SHOWN_MAX = 64 << 20 };

/* A file without a name that holds the bytes; its path under /proc is the one to load. */
static void write_file(const uint8_t *data, size_t size, char path[64])
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("config", MFD_CLOEXEC);
	BUG_ON(fd < 0 || ftruncate(fd, 0) < 0);
	BUG_ON(pwrite(fd, data, size, 0) != (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
}

static void show(const struct config *config, const struct settings *set)
{
	struct setting_filter filter = { .plumbing = true };
	_cleanup_buf_ struct buf out = { 0 };
	struct json_writer w;

	buf_init(&out, SHOWN_MAX);
	json_writer_init(&w, &out, false);
	json_write_array_begin(&w);
	for (size_t i = 0; i < config->server_count; i++) {
		const struct config_server *server = &config->servers[i];

		BUG_ON(!config_find(config, server->name));
		BUG_ON(!server->error && !server->disabled && server->process.command.n == 0);
		BUG_ON(!server->error && !server->disabled && server->namespace.n == 0);
		config_write_server(server, set, &w);
	}
	settings_write_records(set, &filter, &w);
	json_write_array_end(&w);
	BUG_ON(buf_failed(&out));
}

static void load(struct settings *set, const char *path)
{
	struct environment environment = ENVIRONMENT("HOME=/nowhere", "TOKEN=t");
	struct config *config = NULL, *again = NULL;
	unsigned used;
	struct err err;

	BUG_ON(settings_add_flag(set, STR(""), "--config", path, &used, NULL) != 1);
	if (settings_load(set, &config, &environment, STR("/nowhere"), &err) < 0) {
		BUG_ON(err.code >= 0 || !*err.message);
		return;
	}
	show(config, set);
	BUG_ON(config_changed(config, set));
	BUG_ON(config_reload(&again, config, set, &environment, NULL) < 0);
	BUG_ON(settings_add_config(set, again, true, NULL) < 0);
	BUG_ON(again->server_count != config->server_count);
	config_free(&again);
	config_free(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings *set = settings_new();
	const struct settings *call = NULL;
	_cleanup_buf_ struct buf expanded = { 0 };
	struct str text = fuzz_expand(&expanded, str_make((const char *)data, size));
	struct arena arena;
	char path[64];

	arena_init(&arena, 0);
	settings_for_call(&call, set, text, &arena, NULL);
	BUG_ON(!call);
	arena_release(&arena);
	write_file((const uint8_t *)text.p, text.n, path);
	load(set, path);
	settings_free(&set);
	return 0;
}
