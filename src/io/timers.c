#include "base/base.h"
#include "io/loop_private.h"

/* All timers stand in one binary heap, ordered by deadline and then by the order of their starts; one libuv
 * timer is set to the first. The heap is an array of pointers to the owners' structs, so starting and
 * stopping allocates nothing once it has grown. */

enum { HEAP_FIRST = 16 };

static bool timer_before(const struct timer *a, const struct timer *b)
{
	return a->due != b->due ? a->due < b->due : a->order < b->order;
}

static void heap_place(struct timer_heap *heap, struct timer *timer, size_t at)
{
	heap->timers[at] = timer;
	timer->heap_at = at;
}

/* Puts `timer` where it belongs, beginning at the free place `at`. */
static void heap_sift(struct timer_heap *heap, struct timer *timer, size_t at)
{
	while (at > 0 && timer_before(timer, heap->timers[(at - 1) / 2])) {
		heap_place(heap, heap->timers[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	for (size_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
		if (child + 1 < heap->count && timer_before(heap->timers[child + 1], heap->timers[child]))
			child++;
		if (!timer_before(heap->timers[child], timer))
			break;
		heap_place(heap, heap->timers[child], at);
		at = child;
	}
	heap_place(heap, timer, at);
}

static void heap_add(struct timer_heap *heap, struct timer *timer)
{
	if (heap->count == heap->capacity) {
		heap->capacity = size_max(heap->capacity * 2, HEAP_FIRST);
		heap->timers = xrealloc(heap->timers, heap->capacity * sizeof(struct timer *));
	}
	heap->count++;
	heap_sift(heap, timer, heap->count - 1);
}

static void heap_remove(struct timer_heap *heap, struct timer *timer)
{
	struct timer *last;

	BUG_ON(heap->timers[timer->heap_at] != timer);
	last = heap->timers[--heap->count];
	if (last != timer)
		heap_sift(heap, last, timer->heap_at);
}

static void timers_fire(uv_timer_t *alarm);

/* Sets libuv's timer to the first of the heap. At least `least_ms` ahead: libuv 1.44 would call a timer that
 * is set to now from its own callback again at once, and never get to its descriptors. */
static void timers_set_alarm(struct loop *loop, uint64_t least_ms)
{
	struct timer_heap *heap = &loop->heap;
	uint64_t now = loop_now(loop), due;

	if (heap->firing)
		return;
	if (heap->count == 0) {
		uv_timer_stop(&heap->alarm);
		return;
	}
	due = heap->timers[0]->due;
	due = due > now ? due - now : 0;
	uv_timer_start(&heap->alarm, timers_fire, due > least_ms ? due : least_ms, 0);
}

/* Ends what is due, but nothing that one of these callbacks starts. */
static void timers_fire(uv_timer_t *alarm)
{
	struct timer_heap *heap = container_of(alarm, struct timer_heap, alarm);
	struct loop *loop = container_of(heap, struct loop, heap);
	uint64_t now = loop_now(loop), first_new = heap->next_order;

	heap->firing = true;
	while (heap->count && heap->timers[0]->due <= now && heap->timers[0]->order < first_new) {
		struct timer *timer = heap->timers[0];

		timer_stop(timer);
		timer->done(timer);
	}
	heap->firing = false;
	timers_set_alarm(loop, 1);
}

void timer_start(struct timer *timer, struct loop *loop, uint64_t ms, timer_done *done)
{
	uint64_t due;

	timer_stop(timer);
	timer->loop = loop;
	timer->due = add_overflows(loop_now(loop), ms, &due) ? UINT64_MAX : due;
	timer->order = loop->heap.next_order++;
	timer->done = done;
	heap_add(&loop->heap, timer);
	if (timer->heap_at == 0)
		timers_set_alarm(loop, 0);
}

void timer_stop(struct timer *timer)
{
	struct loop *loop = timer->loop;
	bool was_first;

	if (!loop)
		return;
	was_first = timer->heap_at == 0;
	heap_remove(&loop->heap, timer);
	timer->loop = NULL;
	if (was_first)
		timers_set_alarm(loop, 0);
}

void timers_init(struct loop *loop)
{
	uv_timer_init(&loop->uv, &loop->heap.alarm);
}

void timers_release(struct loop *loop)
{
	uv_close((uv_handle_t *)&loop->heap.alarm, NULL);
	free(loop->heap.timers);
}
