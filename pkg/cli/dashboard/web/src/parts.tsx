// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import type { APIError } from './api'
import type { Health } from './health'
import { useAge } from './hooks'

export function Age({ from }: { from?: string }): ReactNode {
  const text = useAge(from)
  return from ? <time dateTime={from} title={new Date(from).toLocaleString()}>{text}</time> : null
}

const symbols: Record<Health, string> = { healthy: '●', underway: '◐', failing: '▲' }

// Status is a word with a symbol and a colour for the health.
export function Status({ health, children }: { health: Health; children: ReactNode }): ReactNode {
  return (
    <span className={`status ${health}`}>
      <span aria-hidden="true">{symbols[health]}</span> {children}
    </span>
  )
}

// Failure says what cannot be read, and why.
export function Failure({ what, error }: { what: string; error: APIError }): ReactNode {
  return (
    <p className="failure" role="status">
      {error.code === 403 ? `You may not read ${what}: ` : `Cannot read ${what}: `}
      {error.message}
    </p>
  )
}

export function Loading(): ReactNode {
  return <p className="quiet">Loading…</p>
}

interface TableProps {
  columns: string[]
  // caption is for those who do not see the heading above the table.
  caption?: string
  className?: string
  children: ReactNode
}

// Table has a row with the names of the columns, and scrolls if it is wider than the page.
export function Table({ columns, caption, className, children }: TableProps): ReactNode {
  return (
    <div className="scroll">
      <table className={className}>
        {caption && <caption className="hidden">{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
