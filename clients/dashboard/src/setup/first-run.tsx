import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Parts } from './parts.js';
import { Steps } from './steps.js';
import { useSetup } from './use-setup.js';

/** What is left to do in a new workspace. Until the first directive it is all shown, then only the steps. */
export function FirstRun({ close }: { close: () => void }) {
  const { data } = useSetup();
  const isDone = data && Object.values(data.steps).every(Boolean);
  useEffect(() => {
    if (isDone) close();
  }, [isDone]);
  if (!data || isDone) return null;
  return (
    <section aria-label="First run" className="page">
      <h2>Set up Consigliere</h2>
      <Steps steps={data.steps} />
      <div className="row">
        {data.steps.directive ? (
          <Link to="/service">How the service is set up</Link>
        ) : (
          <Link to="/directives" className="button">
            Hand in the first directive
          </Link>
        )}
        <button type="button" onClick={close}>
          Do not show this again
        </button>
      </div>
      {!data.steps.directive && <Parts setup={data} />}
    </section>
  );
}
