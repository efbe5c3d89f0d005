/** The driver's conversion of a value to what it sends, which its types leave out. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): unknown };
  export default utils;
}
