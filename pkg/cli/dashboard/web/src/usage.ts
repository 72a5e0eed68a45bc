// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState } from 'react'
import { request, type APIError } from './api'
import type { ModelBox } from './types'

interface Amount {
  used: number
  requested: number
}

interface ResourceTexts {
  used: string
  requested?: string
  recommended: string
}

// Measurement is what the pods of a box use: CPU in millicores, and memory in bytes.
export interface Measurement {
  // time is when the pods were measured, undefined if none was.
  time?: string
  pods: number
  measured: number
  cpu: Amount
  memory: Amount
  containers: { name: string; pods: number; cpu: ResourceTexts; memory: ResourceTexts }[]
}

// How often metrics-server measures pods by default.
const period = 15_000
// usageSpan is for how many seconds measurements are kept.
export const usageSpan = 600

interface Usage {
  // measurements are those with a time that the page has read, the oldest first.
  measurements: Measurement[]
  // latest is the last measurement, also without a time.
  latest?: Measurement
  error?: APIError
}

export const secondsOf = (measurement: Measurement): number => Date.parse(measurement.time ?? '') / 1000

// usages are kept by the UIDs of boxes when their views are left.
const usages = new Map<string, Usage>()

function withMeasurement({ measurements }: Usage, latest: Measurement): Usage {
  const last = measurements.at(-1)
  if (!latest.time || (last && secondsOf(latest) <= secondsOf(last))) return { measurements, latest }
  return { measurements: [...measurements.filter((one) => secondsOf(one) > secondsOf(latest) - usageSpan), latest], latest }
}

// useUsage reads what the pods of a box use, again and again while it is shown.
export function useUsage({ metadata: { name, uid } }: ModelBox): Usage {
  const [usage, setUsage] = useState<Usage>(usages.get(uid) ?? { measurements: [] })
  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let known = usages.get(uid) ?? { measurements: [] }
    const publish = (next: Usage) => {
      if (stop.signal.aborted) return
      known = next
      usages.set(uid, known)
      setUsage(known)
      if (!known.error?.isRefusal) timer = setTimeout(read, period)
    }
    const read = () => {
      request<Measurement>('GET', `/usage/${name}`, { signal: stop.signal })
        .then(({ object }) => publish(withMeasurement(known, object)))
        .catch((error: unknown) => publish({ ...known, error: error as APIError }))
    }
    read()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [name, uid])
  return usage
}
