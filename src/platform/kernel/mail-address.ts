import { isEmail, ValidateBy } from 'class-validator';

/** Addresses are compared, and stored, without upper case. */
export function mailAddress(text: string): string {
  return text.trim().toLowerCase();
}

/**
 * A bare mail address. Only ASCII: a domain in another alphabet is given as its `xn--` form, so that none passes for
 * another.
 */
export function IsMailAddress(): PropertyDecorator {
  return ValidateBy({
    name: 'isEmail',
    validator: {
      validate: (value) => typeof value === 'string' && /^[\x21-\x7e]{3,254}$/.test(value) && isEmail(value),
      defaultMessage: () => '$property must be a mail address such as mira@northwind.example',
    },
  });
}
