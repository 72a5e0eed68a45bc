// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import Event from '@kinvolk/headlamp-plugin/lib/K8s/event'
import { Age, Status, TableSection } from './parts'

// How many events are shown.
const mostEvents = 50

// Events shows the events of objects, the newest first.
export function Events({ namespace, cluster, uids }: { namespace: string; cluster: string; uids: Set<string> }): ReactNode {
  const { items, error } = Event.useList({ namespace, cluster })
  const found = items?.filter((event) => uids.has(event.involvedObject.uid)).sort((a, b) => (a.lastOccurrence < b.lastOccurrence ? 1 : -1))
  return (
    <TableSection<Event>
      title="Events"
      rows={found?.slice(0, mostEvents) ?? null}
      failures={[{ what: 'events', error }]}
      columns={[
        { label: 'Last seen', cell: (event) => <Age from={event.lastOccurrence} />, width: 'auto' },
        { label: 'Type', cell: (event) => <Status health={event.type === 'Warning' ? 'failing' : 'healthy'}>{event.type}</Status>, width: 'auto' },
        { label: 'Reason', cell: (event) => (event.count > 1 ? `${event.reason} (${event.count} times)` : event.reason), width: 'auto' },
        { label: 'Object', cell: ({ involvedObject: { kind, name } }) => `${kind}/${name}`, width: 'auto' },
        { label: 'Message', cell: (event) => event.message, width: '1fr' },
      ]}
    />
  )
}
