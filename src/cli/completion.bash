# Completion of mcpx for bash: source <(mcpx completion bash)
_mcpx() {
	local -a lines
	local file
	mapfile -t lines < <(command mcpx completion words -- bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
	local how=${lines[0]-} before=${lines[1]-0}
	COMPREPLY=("${lines[@]:2}")
	if [[ $how == nospace ]]; then
		compopt -o nospace
	elif [[ $how == files ]] && ((before > 0)); then
		# Behind a character that bash takes for a part of the name.
		compopt -o nospace
		while read -r file; do
			[[ -d $file ]] && file+=/
			[[ ${COMP_WORDS[COMP_CWORD]} == [\"\']* ]] || printf -v file %q "$file"
			COMPREPLY+=("${2:0:before}$file")
		done < <(compgen -f -- "${2:before}")
	elif [[ $how == files ]] && ((${#COMPREPLY[@]} > 0)); then
		compopt -o filenames
		while read -r file; do
			COMPREPLY+=("$file")
		done < <(compgen -f -- "$2")
	elif [[ $how == files ]]; then
		# bash itself completes them, with ~ and variables.
		compopt -o default
	fi
}
complete -F _mcpx mcpx
