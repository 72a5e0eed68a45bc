// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { createContext, useCallback, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import { age } from './age'
import { APIError, mayAccess, pathOf, request, type Access, type Resource } from './api'
import { Collection, type Snapshot } from './collection'
import type { KubeObject } from './types'

export const NamespaceContext = createContext('')

export const useNamespace = (): string => useContext(NamespaceContext)

// Collections are kept after their views, which show at once what was there when they come back.
const collections = new Map<string, Collection<KubeObject>>()
const collectionListeners = new Set<() => void>()

// useResource returns the objects of a resource in the namespace, as they are now.
export function useResource<T extends KubeObject>(resource: Resource | undefined, labelSelector = ''): Snapshot<T> {
  const namespace = useNamespace()
  const key = resource ? `${pathOf(namespace, resource)}?${labelSelector}` : ''
  let collection = collections.get(key)
  if (!collection && resource) {
    collection = new Collection<KubeObject>(pathOf(namespace, resource), labelSelector)
    collections.set(key, collection)
  }
  const subscribe = useCallback(
    (listener: () => void) =>
      collection
        ? collection.subscribe(() => {
            listener()
            for (const other of collectionListeners) other()
          })
        : () => {},
    [collection],
  )
  return useSyncExternalStore(subscribe, collection ? collection.getSnapshot : emptySnapshot) as Snapshot<T>
}

const empty: Snapshot<KubeObject> = { items: [], isLoaded: true }
const emptySnapshot = () => empty

export interface Outage {
  message: string
  since: Date
}

// useOutage returns why the cluster cannot be watched, undefined while it can.
export function useOutage(): Outage | undefined {
  const text = useSyncExternalStore(
    (listener) => {
      collectionListeners.add(listener)
      return () => collectionListeners.delete(listener)
    },
    () => {
      let message = ''
      let since = 0
      for (const collection of collections.values()) {
        const { error, liveUntil } = collection.getSnapshot()
        if (!collection.isUsed || !error || error.isRefusal || !liveUntil) continue
        message = message || error.message
        since = since ? Math.min(since, liveUntil.getTime()) : liveUntil.getTime()
      }
      return message ? `${since} ${message}` : ''
    },
  )
  if (!text) return undefined
  const [since = '', ...message] = text.split(' ')
  return { message: message.join(' '), since: new Date(Number(since)) }
}

// retryAll ends the waits after failures.
export function retryAll(): void {
  for (const collection of collections.values()) collection.retry()
}

// How long an answer about what the user may do is used again.
const accessAge = 30_000
const accesses = new Map<string, { time: number; answer: Promise<boolean> }>()

function cachedAccess(namespace: string, key: string): Promise<boolean> {
  const known = accesses.get(key)
  if (known && Date.now() - known.time < accessAge) return known.answer
  const answer = mayAccess(namespace, JSON.parse(key) as Access)
  accesses.set(key, { time: Date.now(), answer })
  answer.catch(() => accesses.delete(key))
  return answer
}

// useAccess returns whether the user may do something: not until the API has said so.
export function useAccess(access: Access): boolean {
  const namespace = useNamespace()
  const key = JSON.stringify(access)
  const [allowed, setAllowed] = useState('')
  useEffect(() => {
    let isCurrent = true
    cachedAccess(namespace, key)
      .then((isAllowed) => isCurrent && setAllowed(isAllowed ? key : ''))
      .catch(() => isCurrent && setAllowed(''))
    return () => {
      isCurrent = false
    }
  }, [namespace, key])
  return allowed === key
}

export interface Read<T> {
  object?: T
  error?: APIError
}

// useRead reads a path, and again when the version of what it is about changes.
export function useRead<T>(path: string, version: string): Read<T> {
  const [read, setRead] = useState<Read<T>>({})
  useEffect(() => {
    const stop = new AbortController()
    // Versions come in quick succession.
    const timer = setTimeout(() => {
      request<T>('GET', path, { signal: stop.signal })
        .then(({ object }) => setRead({ object }))
        .catch((error: unknown) => {
          if (!stop.signal.aborted) setRead({ error: error as APIError })
        })
    }, 200)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [path, version])
  return read
}

// useRoute returns the parts of the address after "#".
export function useRoute(): string[] {
  const hash = useSyncExternalStore(
    (listener) => {
      window.addEventListener('hashchange', listener)
      return () => window.removeEventListener('hashchange', listener)
    },
    () => location.hash,
  )
  return hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent)
}

const clockListeners = new Set<() => void>()
let now = Date.now()
setInterval(() => {
  now = Date.now()
  for (const listener of clockListeners) listener()
}, 5000)

function subscribeToClock(listener: () => void): () => void {
  clockListeners.add(listener)
  return () => clockListeners.delete(listener)
}

// useAge returns the time since a timestamp. Only those whose age has changed are drawn again.
export function useAge(from: string | undefined): string {
  return useSyncExternalStore(subscribeToClock, () => age(from, now))
}
