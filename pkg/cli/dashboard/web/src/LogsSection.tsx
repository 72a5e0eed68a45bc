// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useDeferredValue, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import type { APIError } from './api'
import { matches } from './filter'
import { followLogs, type LogLine } from './logs'
import { Failure } from './parts'
import type { ModelBox } from './types'

// How many lines are kept.
const mostLines = 5000
// How long new lines are collected until they are drawn together, and when a stream that has ended is opened again.
const drawDelay = 100
const retryDelay = 5000

interface Logs {
  lines: LogLine[]
  warnings: string[]
  error?: APIError
}

// useLogs returns the last lines of the logs of a box, as its containers write them.
function useLogs(path: string): Logs {
  const [logs, setLogs] = useState<Logs>({ lines: [], warnings: [] })
  useEffect(() => {
    const stop = new AbortController()
    let lines: LogLine[] = []
    let warnings: string[] = []
    let drawing: ReturnType<typeof setTimeout> | undefined
    let retrying: ReturnType<typeof setTimeout> | undefined
    const draw = (error?: APIError) => {
      clearTimeout(drawing)
      drawing = undefined
      if (!stop.signal.aborted) setLogs({ lines, warnings, error })
    }
    const end = (error?: APIError) => {
      draw(error)
      if (!stop.signal.aborted && !error?.isRefusal) retrying = setTimeout(open, retryDelay)
    }
    const open = () => {
      // A new stream begins with the last lines of the logs. Until it has one, the former lines stay.
      let isNew = true
      followLogs(path, stop.signal, (added, given) => {
        lines = [...(isNew ? [] : lines), ...added].slice(-mostLines)
        isNew = false
        warnings = given
        drawing ??= setTimeout(draw, drawDelay)
      })
        .then(() => end())
        .catch((error: unknown) => end(error as APIError))
    }
    open()
    return () => {
      stop.abort()
      clearTimeout(drawing)
      clearTimeout(retrying)
    }
  }, [path])
  return logs
}

// Lines shows lines, and stays at the last one unless the user has scrolled away from it.
function Lines({ lines, label }: { lines: LogLine[]; label: string }): ReactNode {
  const element = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (element.current && isAtEnd.current) element.current.scrollTop = element.current.scrollHeight
  }, [lines])
  return (
    <pre
      ref={element}
      className="logs"
      role="log"
      aria-live="off"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget }) => {
        isAtEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 5
      }}
    >
      {lines.map((line) => (
        <span key={line.key}>
          {line.source && <span className="quiet">{line.source} </span>}
          {line.text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

export function LogsSection({ box }: { box: ModelBox }): ReactNode {
  const name = box.metadata.name
  const [isAll, setAll] = useState(false)
  const { lines, warnings, error } = useLogs(`/logs/${name}?allContainers=${isAll}`)
  const [typed, setFilter] = useState('')
  const filter = useDeferredValue(typed)
  const shown = filter ? lines.filter((line) => matches(filter, [line.source, line.text])) : lines
  return (
    <>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Filter <input type="search" value={typed} onChange={(event) => setFilter(event.target.value)} placeholder="words, or a pod" />
        </label>
        <label>
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.target.checked)} /> All containers
        </label>
        <span className="quiet" role="status">
          {shown.length} of {lines.length} lines
        </span>
      </form>
      {error && <Failure what="the logs" error={error} />}
      {warnings.map((warning) => (
        <p key={warning} className="quiet">
          Warning: {warning}
        </p>
      ))}
      {!error && lines.length === 0 ? <p className="quiet">No lines yet.</p> : <Lines lines={shown} label={`The logs of the pods of box ${name}`} />}
    </>
  )
}
