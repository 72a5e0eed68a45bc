// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import type { History, Revision } from '../../../pkg/cli/dashboard/web/src/types'
import { useSubresource } from './api'
import type { ModelBox } from './classes'
import { Age, Status, TableSection, type Failure } from './parts'

// useRevisions returns the revisions of a box, the newest first.
export function useRevisions(object: ModelBox): { revisions?: Revision[]; error?: Failure } {
  const { object: history, error } = useSubresource<History>(object, 'history', object.metadata.resourceVersion)
  return { revisions: history && [...(history.revisions ?? [])].reverse(), error }
}

// Details are what is to say of a revision.
function Details({ failure, unknown, changeCause, changes = [] }: Revision): ReactNode {
  return (
    <>
      {failure && (
        <div>
          <Status health="failing">Failed</Status> {failure}
        </div>
      )}
      {changeCause && <div>{changeCause}</div>}
      {unknown && <div>Its spec is not known: {unknown}</div>}
      {changes.map(({ path, before = 'nothing', after = 'nothing' }) => (
        <div key={path}>
          {path}: {before} → {after}
        </div>
      ))}
    </>
  )
}

export function HistorySection({ object }: { object: ModelBox }): ReactNode {
  const { revisions, error } = useRevisions(object)
  return (
    <TableSection<Revision>
      title="History"
      rows={revisions ?? null}
      failures={[{ what: 'the history', error }]}
      columns={[
        { label: 'Revision', cell: ({ revision }) => revision, width: 'auto' },
        { label: 'Images', cell: ({ images }) => images?.join(', '), width: 'auto' },
        { label: 'Changed by', cell: ({ changedBy }) => changedBy, width: 'auto' },
        { label: 'Age', cell: ({ creationTimestamp }) => <Age from={creationTimestamp} />, width: 'auto' },
        { label: 'Changes', cell: Details, width: '1fr' },
      ]}
    />
  )
}
