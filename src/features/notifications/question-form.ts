import { z } from 'zod';
import { escapeHtml } from '../../platform/http/page.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { clockTimeOn, knownZone, timeOnClock } from '../../platform/kernel/local-day.js';
import { type Answer, type AnswerField, type ApprovalQuestion, choicesOf } from '../approvals/index.js';
import { oneLine } from '../mail/index.js';
import type { Form, FormFaults } from './draft-form.js';

/** A text that may be longer has several lines. */
const SHORT_TEXT = 200;
/** As browsers send a time without a zone. */
const LOCAL_TIME = z.iso.datetime({ local: true });

const fieldsOf = ({ answerSchema }: ApprovalQuestion) => Object.entries(answerSchema.properties);
const nameOf = (name: string) => `answer.${name}`;
const labelOf = (name: string, { title }: AnswerField) => oneLine(title ?? name);

/** The answer that the form holds. What is left empty is left out; what is no number is kept as it was typed, to be refused. */
export function answerIn(form: Form, question: ApprovalQuestion, zone: string): Answer {
  const { required = [] } = question.answerSchema;
  return Object.fromEntries(
    fieldsOf(question).flatMap(([name, field]): [string, unknown][] => {
      if (field.type === 'array') {
        const ticked = choicesOf(field)!.filter((_, index) => form[`${nameOf(name)}.${index}`] !== undefined);
        const isLeftOut = ticked.length === 0 && !required.includes(name);
        return isLeftOut ? [] : [[name, ticked.map(({ value }) => value)]];
      }
      const typed = (form[nameOf(name)] ?? '').replace(/\r\n?/g, '\n');
      return typed.trim() === '' ? [] : [[name, valueOf(field, typed, zone)]];
    }),
  );
}

function valueOf({ type, format }: AnswerField, typed: string, zone: string): unknown {
  if (type === 'boolean') return typed === 'true' || (typed === 'false' ? false : typed);
  if (type !== 'string') return Number.isNaN(Number(typed)) ? typed : Number(typed);
  if (format !== 'date-time' || !LOCAL_TIME.safeParse(typed).success) return typed;
  const [date, time] = typed.split('T') as [string, string];
  return new Date(clockTimeOn(date, time, knownZone(zone))).toISOString();
}

/** The faults of an answer by the fields of the form, in the words of their labels. */
export function answerFaults(faults: readonly Fault[], question: ApprovalQuestion): FormFaults {
  const labels = new Map(fieldsOf(question).map(([name, field]) => [nameOf(name), labelOf(name, field)]));
  return new Map(
    faults.map(({ path, message }) => {
      const field = path.split('.').slice(0, 2).join('.');
      return [field, [`“${labels.get(field) ?? field}”${message.slice(path.length)}`]];
    }),
  );
}

/** The fields of an answer, with what was typed; before that with the defaults of the agent. */
export function answerFields(
  question: ApprovalQuestion,
  form: Form,
  faults: FormFaults,
  zone: string,
): string {
  const isSent = form['decision'] !== undefined;
  const { required = [] } = question.answerSchema;
  const fields = fieldsOf(question).map(([name, field], index) => {
    const id = `q${index}`;
    const label = `${escapeHtml(labelOf(name, field))}${required.includes(name) ? '' : ' (optional)'}`;
    const notes = [
      ...(faults.get(nameOf(name)) ?? []).map((fault) => `<span class="fault">${escapeHtml(fault)}</span>`),
      ...(field.description === undefined ? [] : [escapeHtml(oneLine(field.description))]),
      ...(field.format === 'date-time' ? [`By the clock of ${escapeHtml(knownZone(zone))}.`] : []),
    ];
    const described = notes.length > 0 ? ` aria-describedby="${id}-notes"` : '';
    const invalid = faults.has(nameOf(name)) ? ' aria-invalid="true"' : '';
    const hints =
      notes.length > 0 ? `<p class="notes" id="${id}-notes" dir="auto">${notes.join('<br>')}</p>\n` : '';
    if (field.type === 'array') {
      const chosen = Array.isArray(field.default) ? field.default : [];
      const boxes = choicesOf(field)!.map(({ value, title }, at) => {
        const box = `${nameOf(name)}.${at}`;
        const isTicked = isSent ? form[box] !== undefined : chosen.includes(value);
        return `<label class="confirm"><input type="checkbox" name="${escapeHtml(box)}" value="${escapeHtml(value)}"${isTicked ? ' checked' : ''}> <span dir="auto">${escapeHtml(oneLine(title))}</span></label>`;
      });
      return `<fieldset${described}>\n<legend dir="auto">${label}</legend>\n${hints}${boxes.join('\n')}\n</fieldset>`;
    }
    const shown = isSent ? (form[nameOf(name)] ?? '') : defaultOf(field, zone);
    const attributes = `id="${id}" name="${escapeHtml(nameOf(name))}"${described}${invalid} dir="auto"`;
    return `<label for="${id}" dir="auto">${label}</label>\n${hints}${inputOf(field, attributes, shown)}`;
  });
  return fields.join('\n');
}

function defaultOf({ default: value, format }: AnswerField, zone: string): string {
  if (value === undefined) return '';
  return format === 'date-time' ? timeOnClock(Date.parse(String(value)), knownZone(zone)) : String(value);
}

function inputOf(field: AnswerField, attributes: string, shown: string): string {
  const { type, format, maxLength = Infinity } = field;
  const yesOrNo = [
    { value: 'true', title: 'Yes' },
    { value: 'false', title: 'No' },
  ];
  const offered = type === 'boolean' ? yesOrNo : choicesOf(field);
  if (offered) {
    const options = [{ value: '', title: 'Choose' }, ...offered].map(
      ({ value, title }) =>
        `<option value="${escapeHtml(value)}"${value === shown ? ' selected' : ''}>${escapeHtml(oneLine(title))}</option>`,
    );
    return `<select ${attributes}>\n${options.join('\n')}\n</select>`;
  }
  // A parser drops the first line break.
  if (type === 'string' && format === undefined && maxLength > SHORT_TEXT)
    return `<textarea ${attributes} class="short">\n${escapeHtml(shown)}</textarea>`;
  // A browser keeps of these only what it takes for right; of all others what was typed.
  const picker = format === 'date' ? ' type="date"' : format === 'date-time' ? ' type="datetime-local"' : '';
  const keys = type === 'string' ? KEYS[format ?? ''] : ' inputmode="decimal"';
  return `<input ${attributes}${picker}${keys ?? ''} value="${escapeHtml(shown)}">`;
}

const KEYS: Record<string, string> = { email: ' inputmode="email"', uri: ' inputmode="url"' };
