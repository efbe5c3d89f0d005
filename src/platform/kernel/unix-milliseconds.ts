/** For `@IsInt` at a property that is a time: a sender of a date as text learns the expected format. */
export const UNIX_MILLISECONDS = {
  message: '$property must be a time in Unix milliseconds, a whole number such as 1798758000000',
};
