#!/bin/sh
# The smallest MCP server: a shell that starts in a millisecond, for tests that start servers by the hundred. One tool, `ping`, answers "pong".
while read -r line; do
	case $line in *'"id":'*) ;; *) continue ;; esac
	id=${line#*'"id":'}
	id=${id%%,*}
	case $line in
	*'"method":"initialize"'*)
		result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}'
		;;
	*'"method":"tools/list"'*) result='{"tools":[{"name":"ping","inputSchema":{"type":"object"}}]}' ;;
	*'"method":"tools/call"'*) result='{"content":[{"type":"text","text":"pong"}]}' ;;
	*)
		printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id"
		continue
		;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
