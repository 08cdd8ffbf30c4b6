#include "base/base.h"
#include "io/child_private.h"
#include "io/loop_private.h"

#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

/*
 * A child is over when its supervisor has been reaped: then nothing that came from it exists, and its pipes
 * hold all that will ever come. What the supervisor says before that is only written down. The supervisor
 * needs no more than its word to kill, or the end of the control socket, to end everything; should it fail to
 * (because it was stopped, or killed), we kill it, and the kernel kills its child.
 */

/* -- the supervisor -------------------------------------------------------------------------------------- */

static void supervisor_tell(struct child_process *p, enum supervisor_message_kind kind)
{
	struct supervisor_message message = { .kind = (int32_t)kind };

	(void)!send(p->control_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void supervisor_ended(struct child_process *p, int wait_status, int left)
{
	struct child_status *status = &p->status;

	p->told = true;
	status->left = (unsigned)left;
	if (WIFSIGNALED(wait_status))
		status->signal_number = WTERMSIG(wait_status);
	else
		status->exit_code = WEXITSTATUS(wait_status);
}

static void supervisor_said(struct child_process *p, const struct supervisor_message *message)
{
	switch ((enum supervisor_message_kind)message->kind) {
	case SUPERVISOR_STARTED:
		p->status.started = true;
		if (p->child)
			p->child->pid = message->value;
		p->group = message->value;
		child_command_release(&p->command);
		break;
	case SUPERVISOR_FAILED:
		p->told = true;
		child_command_failed(&p->command, (enum supervisor_step)message->value, message->detail,
				     &p->status.err);
		break;
	case SUPERVISOR_ENDED:
		supervisor_ended(p, message->value, message->detail);
		break;
	case SUPERVISOR_TERM:
	case SUPERVISOR_KILL:
		break;
	}
}

/* Reads all that the supervisor has said so far. */
static void supervisor_listen(struct child_process *p)
{
	struct supervisor_message message;
	ssize_t n = sizeof(message);

	while (p->control_fd >= 0 && n == sizeof(message)) {
		n = recv(p->control_fd, &message, sizeof(message), MSG_DONTWAIT);
		if (n == sizeof(message))
			supervisor_said(p, &message);
		else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			watch_set(&p->control_watch, 0);
	}
}

static void control_ready(struct watch *watch, _unused_ unsigned events)
{
	supervisor_listen(container_of(watch, struct child_process, control_watch));
}

/* The supervisor itself was killed. The kernel has killed its child (PR_SET_PDEATHSIG); what stayed in the
 * child's group goes with it. */
static void supervisor_lost(struct child_process *p, int wait_status)
{
	if (p->group > 0)
		kill(-p->group, SIGKILL);
	p->status.signal_number = p->status.started ? SIGKILL : 0;
	if (WIFSIGNALED(wait_status))
		err_set(&p->status.err, ERR_CLOSED, "the supervisor of the process was killed by signal %d",
			WTERMSIG(wait_status));
	else
		err_set(&p->status.err, ERR_CLOSED,
			"the supervisor of the process exited with code %d before its child; is it of another version?",
			WEXITSTATUS(wait_status));
}

static void child_process_free(struct child_process *p)
{
	timer_stop(&p->ladder);
	child_streams_release(p);
	watch_stop(&p->control_watch);
	watch_stop(&p->supervisor_watch);
	close_fd(&p->control_fd);
	close_fd(&p->supervisor_fd);
	child_command_release(&p->command);
	loop_free_later(p->loop, p);
}

void child_settle(struct child_process *p)
{
	struct child *child = p->child;

	if (!child_streams_drain(p))
		return;
	child->events->exited(child, &p->status);
	if (p->child) {
		child->process = NULL;
		child_process_free(p);
	}
}

static void supervisor_gone(struct watch *watch, _unused_ unsigned events)
{
	struct child_process *p = container_of(watch, struct child_process, supervisor_watch);
	siginfo_t info = { 0 };

	/* ECHILD when the program ignores SIGCHLD: it is gone all the same. */
	if (waitid(P_PIDFD, (id_t)p->supervisor_fd, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0)
		return;
	watch_stop(&p->supervisor_watch);
	timer_stop(&p->ladder);
	supervisor_listen(p);
	if (!p->told)
		supervisor_lost(p, info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status);
	p->over = true;
	if (p->child) {
		child_settle(p);
	} else {
		loop_let_go(p->loop);
		child_process_free(p);
	}
}

/* -- the ladder ------------------------------------------------------------------------------------------ */

static void child_climb(struct child_process *p, enum child_stage stage);

static void ladder_next(struct timer *timer)
{
	struct child_process *p = container_of(timer, struct child_process, ladder);

	if (p->stage == CHILD_KILLING)
		pidfd_send_signal(p->supervisor_fd, SIGKILL, NULL, 0);
	else
		child_climb(p, p->stage + 1);
}

static void child_climb(struct child_process *p, enum child_stage stage)
{
	uint64_t patience = 0;

	if (p->stage >= stage)
		return;
	p->stage = stage;
	if (p->over) {
		child_output_end_pause(p);
		return;
	}
	switch (stage) {
	case CHILD_RUNNING:
		return;
	case CHILD_CLOSING:
		child_close_stdin(p->child);
		patience = p->close_ms;
		break;
	case CHILD_TERMINATING:
		supervisor_tell(p, SUPERVISOR_TERM);
		patience = p->term_ms;
		break;
	case CHILD_KILLING:
		supervisor_tell(p, SUPERVISOR_KILL);
		/* It may have been stopped. */
		pidfd_send_signal(p->supervisor_fd, SIGCONT, NULL, 0);
		/* Its own patience with what does not die, and as much for itself. */
		if (p->kill_ms == 0 || add_overflows(p->kill_ms, p->kill_ms, &patience))
			patience = UINT64_MAX;
		break;
	}
	timer_start(&p->ladder, p->loop, patience, ladder_next);
}

void child_stop(struct child *child)
{
	if (child->process)
		child_climb(child->process, CHILD_CLOSING);
}

void child_kill(struct child *child)
{
	if (child->process)
		child_climb(child->process, CHILD_KILLING);
}

/* -- start and end --------------------------------------------------------------------------------------- */

static int child_process_watch(struct child_process *p, const struct child_spec *spec,
			       struct child_spawned *spawned, struct err *err)
{
	int code;

	p->supervisor_fd = take_fd(&spawned->supervisor_fd);
	p->control_fd = take_fd(&spawned->control_fd);
	code = watch_start(&p->supervisor_watch, p->loop, p->supervisor_fd, WATCH_READ, supervisor_gone, err);
	code = code ? code
		    : watch_start(&p->control_watch, p->loop, p->control_fd, WATCH_READ, control_ready, err);
	code = code ? code : child_input_start(p, take_fd(&spawned->input_fd), spec->input_max, err);
	code = code ? code : child_output_start(p, take_fd(&spawned->output_fd), spec, err);
	return code ? code : child_error_start(p, take_fd(&spawned->error_fd), spec->stderr_keep, err);
}

static struct child_process *child_process_new(struct child *child, struct loop *loop,
					       const struct child_spec *spec)
{
	struct child_process *p = xnew(struct child_process);

	p->child = child;
	p->loop = loop;
	p->supervisor_fd = p->control_fd = p->input.fd = p->output.fd = p->error.fd = -1;
	p->close_ms = spec->close_ms;
	p->term_ms = spec->term_ms;
	p->kill_ms = spec->kill_ms;
	p->status.exit_code = -1;
	child_command_init(&p->command, spec);
	return p;
}

int child_start(struct child *child, struct loop *loop, const struct child_spec *spec,
		const struct child_events *events, struct err *err)
{
	_cleanup_(child_spawned_release) struct child_spawned spawned = CHILD_SPAWNED_NOTHING;
	struct child_process *p;
	int code;

	BUG_ON(child->process && !child->process->over);
	code = child_spawn(spec, &spawned, err);
	if (code < 0)
		return code;
	child_release(child); /* the one before, when this is its `exited` */
	p = child_process_new(child, loop, spec);
	child->events = events;
	child->pid = 0;
	child->process = p;
	code = child_process_watch(p, spec, &spawned, err);
	if (code < 0)
		child_release(child);
	return code;
}

/* The loop could not even begin to watch the supervisor: there is no other way than to wait for its end here
 * and now. */
static bool child_process_abandon(struct child_process *p)
{
	siginfo_t info;

	if (p->supervisor_watch.handle)
		return false;
	pidfd_send_signal(p->supervisor_fd, SIGKILL, NULL, 0);
	waitid(P_PIDFD, (id_t)p->supervisor_fd, &info, WEXITED);
	return true;
}

void child_release(struct child *child)
{
	struct child_process *p = child->process;

	if (!p)
		return;
	child_climb(p, CHILD_KILLING);
	child->process = NULL;
	p->child = NULL;
	child_streams_release(p);
	if (p->over || child_process_abandon(p))
		child_process_free(p);
	else
		loop_hold(p->loop);
}
