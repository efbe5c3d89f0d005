import type { Actor } from '../../platform/auth/caller.js';
import { CAPO_ROLES, type CapoRole } from '../terms/terms.js';

/** The five capos of the specification ("Agent (capo)"), the engine each one runs, and the words of its domain. */
export { CAPO_ROLES, type CapoRole };

export const ENGINES = ['marketing', 'revenue', 'ops', 'product', 'executive'] as const;
export type Engine = (typeof ENGINES)[number];

export interface Capo {
  role: CapoRole;
  engine: Engine;
  /** How a person calls this capo in a sentence. */
  name: string;
  /** The specification's description of the domain. */
  domain: readonly string[];
  /** Words by which an instruction addresses this capo ("have sales ..."). */
  aliases: readonly string[];
  /** Terms that speak of the domain; `core` ones almost decide it, `hints` only lean. */
  vocabulary: { core: readonly string[]; hints: readonly string[] };
}

const terms = (list: string): readonly string[] => list.trim().split(/,\s*/);

/** Terms are written as a person writes them: `routeDirective` compares stems, so one form of a word is enough. */
export const CAPOS: Readonly<Record<CapoRole, Capo>> = {
  capo_marketing: {
    role: 'capo_marketing',
    engine: 'marketing',
    name: 'Marketing',
    domain: ['audience', 'content', 'traffic', 'nurture'],
    aliases: ['marketing', 'the marketing team', 'capo_marketing'],
    vocabulary: {
      core: terms(`
        audience, content, traffic, nurture, campaign, newsletter, blog, social media, linkedin,
        instagram, facebook, tweet, seo, brand, advert, ads, landing page, webinar, headline,
        press release, subscriber, waitlist, waiting list, open rate, click rate, case study,
        testimonial, influencer, mailing list, ad spend, copywriting`),
      hints: terms(`
        announce, announcement, publish, promote, launch, story, post, engagement, visitor, article,
        video, podcast, copy, awareness, segment, event, teaser, community`),
    },
  },
  capo_revenue: {
    role: 'capo_revenue',
    engine: 'revenue',
    name: 'Revenue',
    domain: ['deals', 'pricing', 'offers', 'pipeline'],
    aliases: ['revenue', 'sales', 'the sales team', 'the revenue team', 'capo_revenue'],
    vocabulary: {
      core: terms(`
        deal, price, offer, pipeline, invoice, payment, quote, discount, proposal, renewal, renew,
        upsell, subscription, refund, prospect, crm, forecast, churn, commission, overdue,
        purchase order, sale, negotiate, billing, contract, lead, demo, revenue event`),
      hints: terms(`
        customer, buyer, client, pay, budget, upgrade, follow up, trial, account, sign, close, terms,
        objection, buy, cost, margin, euro, dollar, stripe`),
    },
  },
  capo_ops: {
    role: 'capo_ops',
    engine: 'ops',
    name: 'Ops',
    domain: ['delivery', 'logistics', 'execution'],
    aliases: ['ops', 'operations', 'logistics', 'the ops team', 'the operations team', 'capo_ops'],
    vocabulary: {
      core: terms(`
        delivery, deliver, logistics, execution, shipment, supplier, vendor, inventory, stock,
        warehouse, courier, onboarding, appointment, fulfilment, fulfillment, booking, venue,
        procurement, rota, maintenance, incident, outage, parcel, pallet, truck, customs,
        tracking number, support ticket, replacement part, spare part, installation, office`),
      hints: terms(`
        ship, order, schedule, arrange, organise, organize, delay, reschedule, postpone, meeting,
        agenda, process, checklist, remind, arrive, staff, travel, handover, return, package,
        technician, backup, vendor call, shift`),
    },
  },
  capo_product: {
    role: 'capo_product',
    engine: 'product',
    name: 'Product',
    domain: ['build backlog', 'features', 'release'],
    aliases: ['product', 'engineering', 'the product team', 'the engineering team', 'capo_product'],
    vocabulary: {
      core: terms(`
        backlog, feature, release, roadmap, bug, sprint, user story, changelog, release notes,
        prototype, spec, specification, usability, ux, deploy, regression, integration, api, beta,
        acceptance criteria, crash, milestone, onboarding flow, technical debt, dark mode`),
      hints: terms(`
        build, version, fix, test, user, feedback, design, improve, requirement, developer, login,
        app, dashboard, ticket, code, estimate, mobile, screen`),
    },
  },
  ceo: {
    role: 'ceo',
    engine: 'executive',
    name: 'CEO',
    domain: ['strategic brief', 'morning report'],
    aliases: ['the ceo', 'ceo', 'executive'],
    vocabulary: {
      core: terms(`
        strategic, strategy, brief me, strategic brief, morning report, daily report, board,
        investor, vision, okr, quarterly review, delegate, leadership, annual plan, runway,
        standing order, where we stand, fundraising, weekly review, company goals, all teams`),
      hints: terms(`
        brief, overview, kpi, priorities, decision, direction, company, quarter, goal, risk, focus,
        status, policy, decide, week ahead`),
    },
  },
};

const CAPO_BY_ALIAS: ReadonlyMap<string, CapoRole> = new Map(
  CAPO_ROLES.flatMap((role) =>
    CAPOS[role].aliases.map((alias) => [alias.replace(/^the /, ''), role] as const),
  ),
);

export function isCapoRole(value: unknown): value is CapoRole {
  return CAPO_ROLES.some((role) => role === value);
}

export function engineOf(role: CapoRole): Engine {
  return CAPOS[role].engine;
}

/** The capo a person means by "marketing", "the sales team" or "capo_ops"; undefined when it is none of them. */
export function capoCalled(name: string): CapoRole | undefined {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/^(?:the|our)\s+/, '');
  return CAPO_BY_ALIAS.get(plain) ?? CAPO_BY_ALIAS.get(plain.replace(/\s+(?:team|capo|department)$/, ''));
}

/** A capo as it stands in records and receipts. */
export function capoActor(capo: CapoRole): Actor {
  return { type: 'capo', id: capo, name: CAPOS[capo].name, via: 'policy' };
}
