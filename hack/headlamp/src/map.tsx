// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useMemo, type ReactNode } from 'react'
import { Icon } from '@iconify/react'
import { K8s } from '@kinvolk/headlamp-plugin/lib'
import type { KubeObject } from '@kinvolk/headlamp-plugin/lib/K8s/cluster'
import { summaryOf, type Health } from '../../../pkg/cli/dashboard/web/src/health'
import { BoxDetails } from './BoxDetails'
import { ModelBox, ModelStack, type ModelObject } from './classes'
import { icon } from './icon'
import { statuses } from './parts'
import { StackDetails } from './StackDetails'

// What is drawn of the children of boxes. Headlamp draws their pods.
const childClasses = [
  K8s.ResourceClasses.Deployment,
  K8s.ResourceClasses.StatefulSet,
  K8s.ResourceClasses.DaemonSet,
  K8s.ResourceClasses.Job,
  K8s.ResourceClasses.CronJob,
  K8s.ResourceClasses.Service,
]

interface Details {
  namespace: string
  name: string
  cluster?: string
}

// graphOf draws owners, and edges to what they control. Headlamp names a group after its node with the greatest weight, and gives a
// workload less than 1000.
function graphOf<T extends ModelObject>(owners: T[], owned: KubeObject[], weight: number, healthOf: (owner: T) => Health, Component: (props: Details) => ReactNode) {
  const uids = new Set(owners.map(({ metadata }) => metadata.uid))
  return {
    nodes: owners.map((owner) => ({
      id: owner.metadata.uid,
      kubeObject: owner,
      weight,
      status: statuses[healthOf(owner)],
      detailsComponent: () => <Component namespace={owner.metadata.namespace} name={owner.metadata.name} cluster={owner.cluster} />,
    })),
    edges: owned.flatMap(({ metadata }) =>
      (metadata.ownerReferences ?? [])
        .filter(({ controller, uid }: { controller?: boolean; uid: string }) => controller && uids.has(uid))
        .map(({ uid }: { uid: string }) => ({ id: `${uid}-${metadata.uid}`, source: uid, target: metadata.uid })),
    ),
  }
}

function useBoxes() {
  const { items: boxes } = ModelBox.useList()
  const lists = childClasses.map((kubeObjectClass) => (kubeObjectClass as typeof KubeObject).useList().items)
  return useMemo(() => boxes && graphOf(boxes, lists.flatMap((items) => items ?? []), 1100, ({ box }) => summaryOf(box, 'box').health, BoxDetails), [boxes, ...lists])
}

function useStacks() {
  const { items: stacks } = ModelStack.useList()
  const { items: boxes } = ModelBox.useList()
  return useMemo(() => stacks && graphOf(stacks, boxes ?? [], 1200, ({ stack }) => summaryOf(stack, 'stack').health, StackDetails), [stacks, boxes])
}

const mapIcon = <Icon icon={icon} width="100%" height="100%" />

// mapSource draws stacks, their boxes and the children of boxes in the map of Headlamp.
export const mapSource = {
  id: 'modelbox',
  label: 'ModelBox',
  icon: mapIcon,
  sources: [
    { id: 'modelbox-stacks', label: 'Stacks', icon: mapIcon, useData: useStacks },
    { id: 'modelbox-boxes', label: 'Boxes', icon: mapIcon, useData: useBoxes },
  ],
}
