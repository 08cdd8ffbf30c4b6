# Completion of mcpx for bash: source <(mcpx completion bash)
_mcpx() {
	local -a lines files
	mapfile -t lines < <(command mcpx completion words -- bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
	local how=${lines[0]-} before=${lines[1]-0}
	COMPREPLY=("${lines[@]:2}")
	case $how in
	nospace)
		compopt -o nospace
		;;
	files)
		# bash itself completes names of files with ~ and variables in them, if there is nothing else.
		if ((before == 0 && ${#COMPREPLY[@]} == 0)); then
			compopt -o default
		else
			compopt -o filenames
			mapfile -t files < <(compgen -f -- "${2:before}")
			COMPREPLY+=("${files[@]/#/${2:0:before}}")
		fi
		;;
	esac
}
complete -F _mcpx mcpx
