/** The space of Ogham, the blank of Braille, the filler of Khitan and a note without a head, which Unicode counts as seen. */
const BLANK_SIGNS = String.raw`\u1680\u2800\u{16fe4}\u{1d159}`;
/** Characters that show as nothing, or change the order in which others are read. */
const UNSEEN = String.raw`(?![\t\n\r])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}${BLANK_SIGNS}]`;
const ANY = new RegExp(UNSEEN, 'u');
/** Emoji are made of several, and scripts such as Persian and Hindi join letters by them. */
const TOKENS = new RegExp(
  String.raw`\p{RGI_Emoji}|(?<=[[\p{L}\p{M}]--\p{Script=Latin}--\p{Script=Cyrillic}--\p{Script=Greek}])[\u200c\u200d](?=\p{L})|(?<unseen>${UNSEEN})`,
  'gv',
);

/** The text with a mark for each character that cannot be seen. */
export function visible(text: string): string {
  if (!ANY.test(text)) return text;
  return text.replace(TOKENS, (token: string, unseen: string | undefined) =>
    unseen === undefined ? token : `[U+${token.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/** Tells of the characters in a field that cannot be seen there. */
export function UnseenWarning({ text }: { text: string }) {
  const shown = visible(text);
  if (shown === text) return null;
  return <p className="warning summary">It has characters that cannot be seen, marked here: {shown}</p>;
}
