// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import type { Snapshot } from './collection'
import { conditionHealth } from './health'
import { Age, Failure, Loading, Status, Table } from './parts'
import type { Condition, Event } from './types'

export function Conditions({ conditions }: { conditions: Condition[] }): ReactNode {
  return (
    <>
      <h2>Conditions</h2>
      {conditions.length === 0 && <p className="quiet">None yet.</p>}
      {conditions.length > 0 && (
        <Table columns={['Type', 'Status', 'Reason', 'Since', 'Message']}>
          {conditions.map((condition) => (
            <tr key={condition.type}>
              <th scope="row">{condition.type}</th>
              <td>
                <Status health={conditionHealth(condition, conditions)}>{condition.status}</Status>
              </td>
              <td>{condition.reason}</td>
              <td>
                <Age from={condition.lastTransitionTime} />
              </td>
              <td className="message">{condition.message}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  )
}

// How many events are shown.
const mostEvents = 50

function lastSeen(event: Event): string {
  return event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''
}

// Events shows the events of objects, the newest first.
export function Events({ events, uids }: { events: Snapshot<Event>; uids: Set<string> }): ReactNode {
  const found = events.items.filter((event) => uids.has(event.involvedObject.uid ?? '')).sort((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1))
  return (
    <>
      <h2>Events</h2>
      {events.error?.isRefusal && <Failure what="events" error={events.error} />}
      {!events.isLoaded && <Loading />}
      {events.isLoaded && !events.error?.isRefusal && found.length === 0 && <p className="quiet">None.</p>}
      {found.length > 0 && (
        <Table columns={['Last seen', 'Type', 'Reason', 'Object', 'Message']}>
          {found.slice(0, mostEvents).map((event) => {
            const count = event.series?.count ?? event.count ?? 1
            return (
              <tr key={event.metadata.uid}>
                <td>
                  <Age from={lastSeen(event)} />
                  {count > 1 && ` (${count} times)`}
                </td>
                <td>
                  <Status health={event.type === 'Warning' ? 'failing' : 'healthy'}>{event.type}</Status>
                </td>
                <td>{event.reason}</td>
                <td>
                  {event.involvedObject.kind}/{event.involvedObject.name}
                </td>
                <td className="message">{event.message}</td>
              </tr>
            )
          })}
        </Table>
      )}
      {found.length > mostEvents && <p className="quiet">{found.length - mostEvents} older</p>}
    </>
  )
}
