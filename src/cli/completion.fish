# Completion of mcpx for fish: mcpx completion fish > ~/.config/fish/completions/mcpx.fish
function __mcpx_complete
	set -l token (commandline -ct)
	set -l lines (command mcpx completion words -- fish (commandline -opc) "$token" 2>/dev/null)
	set -q lines[2]; and printf '%s\n' $lines[2..-1]
	if string match -qr '^\d+$' -- $lines[1]
		set -l before (string sub -l $lines[1] -- $token)
		# fish completes names of files itself, as the arguments of a command without completions.
		for path in (complete -C "'' "(string sub -s (math $lines[1] + 1) -- $token))
			printf '%s%s\n' $before $path
		end
	end
end
complete -c mcpx -f -a '(__mcpx_complete)'
