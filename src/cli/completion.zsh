#compdef mcpx
# Completion of mcpx for zsh: source <(mcpx completion zsh), or keep this as _mcpx in a directory of $fpath.
_mcpx() {
	local -a lines whole open
	local -i ret=1
	lines=("${(@f)$(command mcpx completion words -- zsh "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
	whole=("${(@)${(@M)lines:#w*}#w}")
	open=("${(@)${(@M)lines:#o*}#o}")
	_describe -t mcpx mcpx whole -- open -S '' && ret=0
	if [[ $lines[1] == <-> ]]; then
		compset -p $lines[1]
		_files && ret=0
	fi
	return ret
}
if [[ $funcstack[1] == _mcpx ]]; then
	_mcpx "$@"
elif (($+functions[compdef])); then
	compdef _mcpx mcpx
else
	print -u2 'mcpx: completion needs compinit to be called first'
fi
