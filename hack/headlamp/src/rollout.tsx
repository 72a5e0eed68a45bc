// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useState, type ReactNode } from 'react'
import { NameValueTable, SectionBox } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { age } from '../../../pkg/cli/dashboard/web/src/age'
import { checkHealth, limitOf } from '../../../pkg/cli/dashboard/web/src/health'
import type { Check, CheckResult } from '../../../pkg/cli/dashboard/web/src/types'
import type { ModelBox } from './classes'
import { Status, TableSection } from './parts'

// TimeUntil is the time to a timestamp, which it counts down.
function TimeUntil({ time }: { time: string }): ReactNode {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now), 1000)
    return () => clearInterval(timer)
  }, [])
  return `in ${age(new Date(now).toISOString(), Date.parse(time))}`
}

const phases = { Complete: 'healthy', Progressing: 'underway', Paused: 'underway', Failed: 'failing', RolledBack: 'failing' } as const

// RolloutSection shows how the rollout of a box gets on, for a box that asks for that.
export function RolloutSection({ object }: { object: ModelBox }): ReactNode {
  const { box } = object
  const rollout = box.status?.rollout
  if (!rollout) return null
  const { phase = '', step, weight, nextStepAt, stable, candidate, reason, message } = rollout
  const count = Math.max(1, box.spec.rollout?.steps?.length ?? 0)
  return (
    <>
      <SectionBox title="Rollout">
        <NameValueTable
          rows={[
            { name: 'Phase', value: <Status health={phases[phase as keyof typeof phases] ?? 'underway'}>{phase}</Status> },
            { name: 'Reason', value: [reason, message].filter(Boolean).join(': '), hide: !reason && !message },
            { name: 'Step', value: step !== undefined && step > count ? 'all steps are over' : `${step} of ${count}`, hide: step === undefined },
            { name: 'Weight', value: `${weight ?? 0}% of the traffic for the new revision`, hide: step === undefined },
            { name: 'Next step', value: nextStepAt && <TimeUntil time={nextStepAt} />, hide: !nextStepAt },
            { name: 'Stable', value: stable?.name ?? stable?.podsHash, hide: !stable },
            { name: 'Candidate', value: `${candidate?.podsHash} (${candidate?.availableReplicas ?? 0} available)`, hide: !candidate },
          ]}
        />
      </SectionBox>
      <Checks checks={box.spec.rollout?.checks ?? []} results={rollout.checks ?? []} />
    </>
  )
}

// Checks shows the results of the checks in the step that the rollout of a box is in, or has failed in.
function Checks({ checks, results }: { checks: Check[]; results: CheckResult[] }): ReactNode {
  const rows = results.flatMap((result) => {
    const check = checks.find(({ name }) => name === result.name)
    return check ? [{ check, result }] : []
  })
  if (rows.length === 0) return null
  return (
    <TableSection<{ check: Check; result: CheckResult }>
      title="Checks"
      rows={rows}
      columns={[
        { label: 'Check', cell: ({ check, result }) => <Status health={checkHealth(check, result)}>{check.name}</Status>, width: 'auto' },
        { label: 'Step', cell: ({ result }) => result.step, width: 'auto' },
        { label: 'Succeeded', cell: ({ check, result }) => `${result.successes ?? 0} of ${check.count ?? 1}`, width: 'auto' },
        { label: 'Failed', cell: ({ result }) => result.failures ?? 0, width: 'auto' },
        { label: 'Inconclusive', cell: ({ result }) => result.inconclusive ?? 0, width: 'auto' },
        { label: 'Value', cell: ({ result }) => result.value, width: 'auto' },
        { label: 'Limit', cell: ({ check }) => limitOf(check), width: 'auto' },
        { label: 'Message', cell: ({ result }) => result.message, width: '1fr' },
      ]}
    />
  )
}
