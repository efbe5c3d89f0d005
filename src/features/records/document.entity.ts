import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a capo filed: one per packet, by the constraint documents_once_per_packet. */
@Entity('documents')
export class DocumentEntity {
  @PrimaryColumn('text')
  documentId!: string;
  @Column('text')
  workspaceId!: string;
  @Column('text', { nullable: true })
  teamId!: string | null;
  @Column('text')
  directiveId!: string;
  @Column('text')
  workPacketId!: string;
  @Column('text')
  title!: string;
  @Column('text')
  body!: string;
  @Column('text')
  format!: 'markdown';
  @Column('timestamptz')
  createdAt!: number;
  /** A withdrawn document is listed no more; who has its id still reads it, since receipts name it. */
  @Column('timestamptz', { nullable: true })
  withdrawnAt!: number | null;
}
