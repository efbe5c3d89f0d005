import { isEmail, ValidateBy } from 'class-validator';
import { z } from 'zod';

/**
 * A bare address, never `Name <address>`: what a person reads is exactly what the mail server is given. What passes here
 * is never refused later, when the mail is composed.
 */
export const mailAddress = z
  .string()
  .max(254)
  .pipe(z.email({ abort: true }))
  .refine((text) => isEmail(text), { error: 'must be a mail address' });

/** Addresses are compared, and stored, without upper case. */
export function foldedMailAddress(text: string): string {
  return text.trim().toLowerCase();
}

/** What somebody is called, as far as the address tells: `jane.doe@...` is Jane Doe. */
export function nameInAddress(address: string): string {
  const words = address
    .split('@', 1)[0]!
    .split(/[._-]+/)
    .filter(Boolean);
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(' ');
}

export function isMailAddress(value: unknown): value is string {
  return mailAddress.safeParse(value).success;
}

export function IsMailAddress(): PropertyDecorator {
  return ValidateBy({
    name: 'isMailAddress',
    validator: {
      validate: isMailAddress,
      defaultMessage: () => '$property must be a mail address such as jane@acme.example',
    },
  });
}
