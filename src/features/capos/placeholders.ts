/** What a writer leaves for somebody else to fill in, such as `[Name]`, `{{date}}`, `<insert price>` or TODO. */
const PLACEHOLDERS = [
  // A link of Markdown, a box to tick, a footnote and [sic] are none.
  /\[(?!\s*\]|x\]|\d+\]|sic\]|\^)[^[\]\n]{1,80}\](?![([:])/giu,
  /\{\{[^{}\n]{0,80}\}\}/g,
  /\$\{[^{}\n]{1,80}\}/g,
  /(?<![{$])\{[\p{L}_][\p{L}\p{N}_ .-]{0,60}\}/gu,
  /<<[^<>\n]{1,80}>>/g,
  /(?<!<)<(?:insert|your|enter|add|fill|name|first|last|full|date|time|amount|price|company|recipient|customer|client|address|placeholder|number|link|url|einfügen|nom|datum)\b[^<>\n]{0,80}>/giu,
  /%[A-Z][A-Z_]{2,40}%/g,
  /_{4,}/g,
  // In capitals only: the Spanish "todo" is a word.
  /\b(?:TODO|TBD|TBA|TBC|FIXME|PLACEHOLDER|XXX+)\b/g,
  /\blorem ipsum\b/gi,
];

/** The placeholders of a text, as they stand there. */
export function placeholdersIn(text: string): string[] {
  const found = PLACEHOLDERS.flatMap((pattern) => text.match(pattern) ?? []);
  return [...new Set(found)];
}
