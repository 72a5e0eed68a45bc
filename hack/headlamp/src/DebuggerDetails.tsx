// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { DetailsGrid } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { containerSummary } from '../../../pkg/cli/dashboard/web/src/health'
import { PodDebugger } from './classes'
import { Conditions } from './conditions'
import { debuggedPods, debuggerSummary, selectorOf } from './debugger'
import { Events } from './events'
import { ObjectLink, Status, StatusWithMessage, TableSection } from './parts'
import type { Debugger } from './types'

type DebuggedPod = NonNullable<NonNullable<Debugger['status']>['pods']>[number]

function stateOf({ name, state, refusal }: DebuggedPod): ReactNode {
  if (refusal) {
    return (
      <>
        <Status health="failing">Refused</Status> {refusal}
      </>
    )
  }
  const summary = containerSummary({ name, image: '', restartCount: 0, ready: true, state })
  return <StatusWithMessage summary={summary} />
}

function DebuggerSections({ object }: { object: PodDebugger }): ReactNode {
  const { cluster, podDebugger } = object
  const { namespace, uid } = object.metadata
  const { pods = [], podsOmitted = 0, conditions } = podDebugger.status ?? {}
  return (
    <>
      <TableSection<DebuggedPod>
        title={podsOmitted ? `Pods (${podsOmitted} more)` : 'Pods'}
        rows={pods}
        columns={[
          { label: 'Name', cell: ({ name }) => <ObjectLink route="Pod" namespace={namespace} name={name} cluster={cluster} />, width: 'auto' },
          { label: 'Box', cell: ({ box }) => box && <ObjectLink route="ModelBox" namespace={namespace} name={box} cluster={cluster} />, width: 'auto' },
          { label: 'Container', cell: stateOf, width: '1fr' },
        ]}
      />
      <Conditions conditions={conditions} />
      <Events namespace={namespace} cluster={cluster} uids={new Set([uid])} />
    </>
  )
}

function factsOf({ podDebugger }: PodDebugger) {
  const { spec, status } = podDebugger
  return [
    { name: 'Status', value: <StatusWithMessage summary={debuggerSummary(podDebugger)} /> },
    { name: 'Selector', value: selectorOf(podDebugger) },
    { name: 'Image', value: spec.image },
    { name: 'Pods', value: `${debuggedPods(podDebugger)} running, ${status?.selectedPods ?? 0} selected, ${status?.refusedPods ?? 0} refused` },
    { name: 'Container', value: status?.containerName, hide: !status?.containerName },
    { name: 'Profile', value: spec.profile, hide: !spec.profile },
    { name: 'When deleted', value: spec.whenDeleted, hide: !spec.whenDeleted },
  ]
}

export function DebuggerDetails({ namespace, name, cluster }: { namespace: string; name: string; cluster?: string }): ReactNode {
  return (
    <DetailsGrid
      resourceType={PodDebugger}
      namespace={namespace}
      name={name}
      cluster={cluster}
      extraInfo={(object) => object && factsOf(object)}
      extraSections={(object) => object && [{ id: 'modelbox-sections', section: <DebuggerSections object={object} /> }]}
    />
  )
}
