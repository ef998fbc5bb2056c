/** Characters that XML 1.0 cannot express, escaped or not (section 2.2). */
const NOT_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML and HTML alike, in elements and in double-quoted attributes. */
export function escapeXml(text: string): string {
  return text.replace(NOT_XML, '\u{FFFD}').replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
}
