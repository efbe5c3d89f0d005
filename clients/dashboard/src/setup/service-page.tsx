import { mayAct, useMe } from '../me.js';
import { Loaded } from '../ui/list.js';
import { Parts } from './parts.js';
import { Steps } from './steps.js';
import { useSetup } from './use-setup.js';

/** How the service is set up, with a test of each part. */
export function ServicePage() {
  const me = useMe();
  if (!me) return <p className="empty">Loading.</p>;
  if (!mayAct(me, 'admin')) return <p className="empty">The role admin sets the service up. Ask an admin.</p>;
  return <Service />;
}

function Service() {
  const setup = useSetup();
  return (
    <div className="page">
      <h1>The service</h1>
      <Loaded query={setup}>
        {(data) => (
          <>
            <Parts setup={data} />
            <h2>First steps</h2>
            <Steps steps={data.steps} />
          </>
        )}
      </Loaded>
    </div>
  );
}
