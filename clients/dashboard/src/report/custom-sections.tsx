import type { BootstrapView, CustomSectionView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';
import { Act } from '../ui/act.js';
import { Field, Form } from '../ui/form.js';
import { Loaded, Rows } from '../ui/list.js';
import { tell } from '../ui/told.js';

/** Sections that a capo writes for each report. */
export function CustomSections({ me }: { me: BootstrapView }) {
  const sections = useQuery({
    queryKey: ['report_section'],
    queryFn: () => client.reports.listSections(),
  });
  return (
    <section aria-label="Sections of your own">
      <h2>Sections of your own</h2>
      <Loaded query={sections}>
        {({ items }) => (
          <Rows items={items} empty="None. A capo can answer a question of yours in each report.">
            {({ sectionId, title, directive, capo }: CustomSectionView) => (
              <li key={sectionId}>
                <span className="title">{title}</span>
                <span>{directive}</span>
                <span className="facts">
                  <span>{capo.replace('capo_', '')} writes it</span>
                </span>
                <Act
                  verb="Delete"
                  of={title}
                  effect="Reports have it no more. Those made before keep it."
                  isDanger
                  act={() => client.reports.deleteSection(sectionId)}
                  stale={['report_section']}
                  says={`Deleted: ${title}`}
                />
              </li>
            )}
          </Rows>
        )}
      </Loaded>
      <Form
        about="section"
        verb="Add the section"
        act={({ title, directive, capo }) =>
          client.reports.addSection({ title: title!, directive: directive!, capo: capo as 'capo_ops' })
        }
        stale={['report_section']}
        onDone={(added) => tell(`Added: ${added.title}. The next report has it.`)}
      >
        <Field label="Title of the section">
          <input name="title" required maxLength={120} />
        </Field>
        <Field label="What it answers">
          <textarea name="directive" required maxLength={4_000} />
        </Field>
        <Field label="Who writes it">
          <select name="capo">
            {me.capos.map(({ role, name }) => (
              <option key={role} value={role}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      </Form>
    </section>
  );
}
