/*
 * commands.h - what the commands do. Each is a command_run; command.c puts them into the table.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

/* Any operation: asks the daemon and shows the answer. */
command_run command_operation;

command_run command_tools, command_call;
command_run command_exec, command_run_script;
command_run command_artifact_put, command_artifact_get;
command_run command_settings_list, command_settings_get, command_settings_set;
command_run command_stop;
command_run command_serve, command_daemon;
command_run command_config;
command_run command_completion, command_help;

#endif
