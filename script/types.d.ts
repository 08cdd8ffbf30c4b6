/** Part of what a tool answers with. */
type ContentBlock =
	| { type: "text"; text: string }
	| { type: "image" | "audio"; data: string; mimeType: string }
	| { type: "resource"; resource: { uri: string; mimeType?: string; text?: string; blob?: string } }
	| { type: "resource_link"; uri: string; name: string; mimeType?: string; size?: number };
/** A tool's whole answer, as its server sent it. */
type CallToolResult = { content: ContentBlock[]; structuredContent?: unknown; isError?: boolean; _meta?: Record<string, unknown> };
/**
 * What a call gives: structured content as a value, JSON text parsed, other text as a String, and where there is neither the content blocks. The whole
 * answer is in `.raw`. A tool that says it failed throws a ToolError.
 */
type Result<T> = T & { readonly raw: CallToolResult };
type Fields = Record<string, unknown>;
type Log = (message: unknown, fields?: Fields) => void;
/** `{name}` in a message stands for the field of that name. */
type Logger = Log & { debug: Log; info: Log; warn: Log; error: Log; with(fields: Fields): Logger };
type Artifact = { id: string; name: string; mime: string; size: number; sha256: string; uri: string; run?: string; session?: string; created: string; expires?: string; path?: string; pathError?: string };
type Tool = { namespace: string; server: string; tool: string; function: string; title?: string; description?: string; inputSchema?: any; outputSchema?: any; annotations?: Fields };
type Progress = { progress: number; total?: number; message?: string };
/** `onProgress` hears what a long-running tool reports; what it throws fails the script. */
type CallOptions = { onProgress?: (progress: Progress) => void };
/** Calls any tool by name. */
function call(server: string, tool: string, args?: object, options?: CallOptions): Promise<any>;
/** Gives an intermediate value to whoever runs the script, at once. */
function emit(value: unknown): void;
/** Keeps bytes under a handle. Takes text, bytes, `{ path }`, an image, audio or resource block, or a tool's result that holds one. */
function artifact(name: string, data: string | String | ArrayBufferView | ArrayBuffer | { path: string } | ContentBlock | object): Promise<Artifact>;
/** Finds tools by words in their names and descriptions, best first. */
function search(query: string, limit?: number): (Tool & { score: number })[];
/** What the catalogue knows of "namespace.tool". */
function describe(path: string): Tool;
const log: Logger;
const paths: { readonly cwd: string; readonly entry?: string; readonly client?: string; readonly config?: string; readonly scriptDirs: string[] };
/** A tool said that it failed, its server did, or the call could not be made. */
class ToolError extends Error {
	readonly server: string;
	readonly tool: string;
	readonly raw: any;
	readonly diagnostics?: any;
	/** Whether the call may be repeated without fear: only after "not-sent". */
	readonly outcome?: "answered" | "not-sent" | "unknown";
}
