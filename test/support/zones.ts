import { FULL_SIZE } from './full-size.js';

/** Half hours and quarters, days before and behind all others, clocks that change at midnight, by half an hour, or for a month. */
const ALL = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Dublin',
  'Europe/Lisbon',
  'Europe/Istanbul',
  'Europe/Kyiv',
  'America/New_York',
  'America/Los_Angeles',
  'America/St_Johns',
  'America/Sao_Paulo',
  'America/Havana',
  'America/Santiago',
  'America/Asuncion',
  'America/Phoenix',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Africa/Johannesburg',
  'Asia/Beirut',
  'Asia/Jerusalem',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Tehran',
  'Asia/Tokyo',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Atlantic/Azores',
];

/** An hour, half an hour in the south, a midnight that is skipped, a day that was. */
const CHOSEN = ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Cairo', 'Pacific/Apia'];

export const ZONES = FULL_SIZE ? ALL : CHOSEN;
