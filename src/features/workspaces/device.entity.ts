import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a member's client has called itself. */
@Entity('devices')
export class DeviceEntity {
  @PrimaryColumn('text')
  workspaceId!: string;
  @PrimaryColumn('text')
  memberId!: string;
  @PrimaryColumn('text')
  deviceId!: string;
  @Column('timestamptz')
  firstSeenAt!: number;
  @Column('timestamptz')
  lastSeenAt!: number;
}
