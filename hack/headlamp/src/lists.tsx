// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { ResourceListView } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import type { KubeObject } from '@kinvolk/headlamp-plugin/lib/K8s/cluster'
import { boxReady, boxRollout, networkSummary, summaryOf, type Summary } from '../../../pkg/cli/dashboard/web/src/health'
import { ModelBox, ModelStack, Network, PodDebugger } from './classes'
import { debuggedPods, debuggerSummary, selectorOf } from './debugger'
import { Status } from './parts'

// The columns of the lists are those of "kubectl get", and the message. Those of "--output=wide" can be chosen.

// text is a column with a text or a number.
function text<T extends KubeObject>(label: string, getValue: (item: T) => string | number, show = true) {
  return { id: label, label, getValue, show, gridTemplate: 'auto' }
}

// statusAndMessage are the columns that sum up an object.
function statusAndMessage<T extends KubeObject>(summarize: (item: T) => Summary) {
  return [
    {
      id: 'Status',
      label: 'Status',
      getValue: (item: T) => summarize(item).status,
      render: (item: T) => <Status health={summarize(item).health}>{summarize(item).status}</Status>,
      filterVariant: 'multi-select' as const,
      gridTemplate: 'min-content',
    },
    { id: 'Message', label: 'Message', getValue: (item: T) => summarize(item).message, gridTemplate: 'minmax(12rem, 2fr)' },
  ]
}

export function BoxList(): ReactNode {
  return (
    <ResourceListView
      title="Boxes"
      resourceClass={ModelBox}
      columns={[
        'name',
        'namespace',
        'cluster',
        text<ModelBox>('Ready', ({ box }) => boxReady(box)),
        text<ModelBox>('Up-to-date', ({ box }) => box.status?.updatedReplicas ?? 0),
        ...statusAndMessage<ModelBox>(({ box }) => summaryOf(box, 'box')),
        text<ModelBox>('Image', ({ box }) => box.spec.image),
        text<ModelBox>('Address', ({ box }) => box.status?.address ?? ''),
        text<ModelBox>('Workload', ({ box }) => box.spec.workload ?? '', false),
        text<ModelBox>('Rollout', ({ box }) => boxRollout(box), false),
        'age',
      ]}
    />
  )
}

export function StackList(): ReactNode {
  return (
    <ResourceListView
      title="Stacks"
      resourceClass={ModelStack}
      columns={[
        'name',
        'namespace',
        'cluster',
        text<ModelStack>('Ready', ({ stack }) => `${stack.status?.readyComponents ?? 0}/${stack.spec.components.length}`),
        ...statusAndMessage<ModelStack>(({ stack }) => summaryOf(stack, 'stack')),
        text<ModelStack>('Waiting for', ({ stack }) => stack.status?.waitingFor ?? ''),
        'age',
      ]}
    />
  )
}

export function NetworkList(): ReactNode {
  return (
    <ResourceListView
      title="Networks"
      resourceClass={Network}
      columns={[
        'name',
        'namespace',
        'cluster',
        text<Network>('Type', ({ network }) => network.spec.type ?? ''),
        text<Network>('CIDR', ({ network }) => network.spec.cidr),
        text<Network>('Gateway', ({ network }) => network.spec.gateway),
        ...statusAndMessage<Network>(({ network }) => networkSummary(network)),
        text<Network>('Boxes', ({ network }) => (network.status?.boxes?.length ?? 0) + (network.status?.boxesOmitted ?? 0)),
        text<Network>('Used', ({ network }) => network.status?.usedAddresses ?? 0, false),
        text<Network>('Free', ({ network }) => network.status?.freeAddresses ?? 0, false),
        'age',
      ]}
    />
  )
}

export function DebuggerList(): ReactNode {
  return (
    <ResourceListView
      title="Debuggers"
      resourceClass={PodDebugger}
      columns={[
        'name',
        'namespace',
        'cluster',
        text<PodDebugger>('Selector', ({ podDebugger }) => selectorOf(podDebugger)),
        text<PodDebugger>('Image', ({ podDebugger }) => podDebugger.spec.image),
        text<PodDebugger>('Pods', ({ podDebugger }) => debuggedPods(podDebugger)),
        ...statusAndMessage<PodDebugger>(({ podDebugger }) => debuggerSummary(podDebugger)),
        text<PodDebugger>('Container', ({ podDebugger }) => podDebugger.status?.containerName ?? '', false),
        text<PodDebugger>('Profile', ({ podDebugger }) => podDebugger.spec.profile ?? '', false),
        'age',
      ]}
    />
  )
}
