/** `{id}` anywhere, and `:id` as a whole segment or a whole query value. */
export const PATH_TEMPLATE = /\{([^{}/?&]{1,80})\}|(?<=[/=]):([A-Za-z_]\w{0,79})(?=[/?&]|$)/g;

/** Says whether a path, or a part of it that begins with `/`, holds a template. */
export function isTemplate(path: string): boolean {
  return path.search(PATH_TEMPLATE) >= 0;
}
