import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Figures } from '../observability/figures.js';
import { Work } from './work.js';

/** Work that waits, for Prometheus. The second figure reads, by their index, all items that are due. */
@Injectable()
export class WorkFigures implements OnModuleInit {
  constructor(
    private readonly figures: Figures,
    private readonly work: Work,
  ) {}

  onModuleInit(): void {
    const kinds = () => [[...this.work.kinds.keys()]];
    this.figures.declare({
      name: 'consigliere_work_waiting',
      help: 'Items of work that nobody is at work on, by kind, counted up to 10,000',
      label: 'kind',
      statement: () => ({
        text: 'select kind as label, n as value from app.waiting_work($1)',
        values: kinds(),
      }),
    });
    this.figures.declare({
      name: 'consigliere_work_oldest_due_seconds',
      help: 'For how long the oldest item of each kind has been due; 0 when none is',
      label: 'kind',
      statement: () => ({
        text: `select k as label, coalesce(-min(d.due_in_ms) / 1000, 0) as value
          from unnest($1::text[]) k left join app.due_work($1, interval '0') d on d.kind = k group by k`,
        values: kinds(),
      }),
    });
  }
}
