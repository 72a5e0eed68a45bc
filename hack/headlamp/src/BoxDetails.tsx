// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { K8s } from '@kinvolk/headlamp-plugin/lib'
import { AuthVisible, DetailsGrid } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { boxActions } from '../../../pkg/cli/dashboard/web/src/action'
import { boxReady, summaryOf } from '../../../pkg/cli/dashboard/web/src/health'
import { Actions } from './actions'
import { ChildrenSection, useChildren, useKinds } from './children'
import { ModelBox } from './classes'
import { Conditions } from './conditions'
import { Events } from './events'
import { HistorySection } from './history'
import { ObjectLink, StatusWithMessage } from './parts'
import { PodNetworks } from './podnetworks'
import { Pods } from './pods'
import { RolloutSection } from './rollout'
import { RollbackMenu } from './RollbackMenu'

function BoxActions({ object }: { object: ModelBox }): ReactNode {
  return (
    <Actions object={object} actions={boxActions(object.box)}>
      {(ask) => (
        <AuthVisible item={object} namespace={object.metadata.namespace} authVerb="create" subresource="rollback">
          <RollbackMenu object={object} onAsk={ask} />
        </AuthVisible>
      )}
    </Actions>
  )
}

// Owned shows the children of the kinds, the pods, and the events of all of them.
function Owned({ object, kinds }: { object: ModelBox; kinds: string[] }): ReactNode {
  const { namespace, name, uid } = object.metadata
  const children = useChildren(object, kinds)
  const { items: pods, error } = K8s.ResourceClasses.Pod.useList({ namespace, cluster: object.cluster, labelSelector: `modelbox=${name}` })
  const uids = new Set([uid, ...[...(children.items ?? []), ...(pods ?? [])].map(({ metadata }) => metadata.uid)])
  return (
    <>
      <ChildrenSection {...children} />
      <Pods pods={pods} error={error} />
      <PodNetworks boxes={[object]} />
      <HistorySection object={object} />
      <Events namespace={namespace} cluster={object.cluster} uids={uids} />
    </>
  )
}

function BoxSections({ object }: { object: ModelBox }): ReactNode {
  const kinds = useKinds(object)
  return (
    <>
      <RolloutSection object={object} />
      <Conditions conditions={object.box.status?.conditions} />
      {kinds && <Owned key={kinds.join()} object={object} kinds={kinds} />}
    </>
  )
}

function factsOf(object: ModelBox) {
  const { box, cluster, metadata } = object
  const stack = metadata.labels?.['model.github.com/stack']
  return [
    { name: 'Status', value: <StatusWithMessage summary={summaryOf(box, 'box')} /> },
    { name: 'Ready', value: boxReady(box) },
    { name: 'Image', value: box.spec.image },
    { name: 'Workload', value: box.spec.workload },
    { name: 'Address', value: box.status?.address, hide: !box.status?.address },
    { name: 'Stack', value: <ObjectLink route="ModelStack" namespace={metadata.namespace} name={stack ?? ''} cluster={cluster} />, hide: !stack },
  ]
}

export function BoxDetails({ namespace, name, cluster }: { namespace: string; name: string; cluster?: string }): ReactNode {
  return (
    <DetailsGrid
      resourceType={ModelBox}
      namespace={namespace}
      name={name}
      cluster={cluster}
      extraInfo={(object) => object && factsOf(object)}
      actions={(object) => (object ? [{ id: 'modelbox-actions', action: <BoxActions object={object} /> }] : [])}
      extraSections={(object) => object && [{ id: 'modelbox-sections', section: <BoxSections object={object} /> }]}
    />
  )
}
