import { ValidateBy } from 'class-validator';
import { CONTROL_IN_TEXT } from './text.js';

/** Words of a person: not blank, of so many characters, and without control characters but tabs and line breaks. */
export function IsPlainText(maxLength: number): PropertyDecorator {
  return ValidateBy({
    name: 'isPlainText',
    validator: {
      validate: (value) =>
        typeof value === 'string' &&
        /\S/.test(value) &&
        value.length <= maxLength &&
        value.isWellFormed() &&
        !CONTROL_IN_TEXT.test(value),
      defaultMessage: () =>
        `$property must be text of 1 to ${maxLength.toLocaleString('en')} characters, without control characters`,
    },
  });
}
