import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DocumentEntity } from './document.entity.js';
import { DocumentsController } from './documents.controller.js';
import { Documents } from './documents.repository.js';

/** @level 3 */
@Module({
  imports: [TypeOrmModule.forFeature([DocumentEntity])],
  controllers: [DocumentsController],
  providers: [Documents],
  exports: [Documents],
})
export class DocumentsModule {}
