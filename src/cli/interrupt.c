#include "base/base.h"
#include "cli/interrupt.h"

#include <signal.h>

enum { EXIT_BY_SIGNAL = 128 /* as shells count */ };

static const char *wiped;

/* Calls only what signal-safety(7) allows. */
static void end(int number)
{
	if (wiped)
		(void)!write(STDERR_FILENO, wiped, strlen(wiped));
	_exit(EXIT_BY_SIGNAL + number);
}

/* A signal that whoever started us has us ignore, as shells do for what runs in the background, stays
 * ignored. */
static void watch(int number)
{
	struct sigaction action = { .sa_handler = end }, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		(void)sigaction(number, &action, NULL);
}

void interrupt_ends(const char *wipe)
{
	wiped = wipe;
	watch(SIGINT);
	watch(SIGTERM);
}
