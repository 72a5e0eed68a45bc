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
