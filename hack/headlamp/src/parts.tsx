// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { DateLabel, Link, SectionBox, SimpleTable, StatusLabel } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { Typography } from '@mui/material'
import type { Health, Summary } from '../../../pkg/cli/dashboard/web/src/health'

export const statuses = { healthy: 'success', underway: 'warning', failing: 'error' } as const

// Status is a word with the colour that Headlamp has for the health.
export function Status({ health, children }: { health: Health; children: ReactNode }): ReactNode {
  return <StatusLabel status={statuses[health]}>{children}</StatusLabel>
}

// StatusWithMessage has the message of what is not healthy beside the status.
export function StatusWithMessage({ summary: { status, message, health } }: { summary: Summary }): ReactNode {
  return (
    <>
      <Status health={health}>{status}</Status> {health !== 'healthy' && message}
    </>
  )
}

// Age is the time since a timestamp. Headlamp keeps the age of the timestamp before for a while, unless the label is another one.
export function Age({ from }: { from?: string }): ReactNode {
  return from ? <DateLabel key={from} date={from} format="mini" /> : null
}

// ObjectLink leads to the page of an object in Headlamp.
export function ObjectLink({ route, namespace, name, cluster }: { route: string; namespace: string; name: string; cluster: string }): ReactNode {
  return (
    <Link routeName={route} params={{ namespace, name }} activeCluster={cluster}>
      {name}
    </Link>
  )
}

interface Column<T> {
  label: string
  cell: (row: T) => ReactNode
  // width is in the words of CSS grids.
  width?: string
}

// A failure of the API has a status in Headlamp, and a message.
export interface Failure {
  status?: number
  message: string
}

export function FailureText({ what, error }: { what: string; error: Failure }): ReactNode {
  return (
    <Typography color="error" role="status">
      {error.status === 403 ? `You may not read ${what}: ` : `Cannot read ${what}: `}
      {error.message}
    </Typography>
  )
}

interface TableProps<T> {
  title: string
  columns: Column<T>[]
  // rows are null until they are known.
  rows: T[] | null
  failures?: { what: string; error: Failure | null | undefined }[]
  empty?: string
}

// TableSection is a section of a page with a table, and with what cannot be read of it.
export function TableSection<T extends object>({ title, columns, rows, failures = [], empty = 'None.' }: TableProps<T>): ReactNode {
  const failed = failures.flatMap(({ what, error }) => (error ? [{ what, error }] : []))
  return (
    <SectionBox title={title}>
      {failed.map(({ what, error }) => (
        <FailureText key={what} what={what} error={error} />
      ))}
      {(failed.length === 0 || (rows && rows.length > 0)) && (
        <SimpleTable columns={columns.map(({ label, cell, width }) => ({ label, getter: cell, gridTemplate: width }))} data={rows} emptyMessage={empty} />
      )}
    </SectionBox>
  )
}
