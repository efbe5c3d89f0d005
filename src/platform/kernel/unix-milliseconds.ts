/** For `@IsInt` at a property that is a time: whoever sends a date as text reads what is wanted instead. */
export const UNIX_MILLISECONDS = {
  message: '$property must be a time in Unix milliseconds, a whole number such as 1798758000000',
};
