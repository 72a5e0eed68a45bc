// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { Link } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import type Pod from '@kinvolk/headlamp-plugin/lib/K8s/pod'
import { podSummary } from '../../../pkg/cli/dashboard/web/src/health'
import type { Pod as PodObject } from '../../../pkg/cli/dashboard/web/src/types'
import { Age, StatusWithMessage, TableSection, type Failure } from './parts'

const summaryOf = (pod: Pod) => podSummary(pod.jsonData as unknown as PodObject)

export function Pods({ pods, error }: { pods: Pod[] | null; error?: Failure | null }): ReactNode {
  return (
    <TableSection<Pod>
      title="Pods"
      rows={pods}
      failures={[{ what: 'pods', error }]}
      columns={[
        { label: 'Name', cell: (pod) => <Link kubeObject={pod} />, width: 'auto' },
        { label: 'Ready', cell: (pod) => summaryOf(pod).ready, width: 'auto' },
        { label: 'Status', cell: (pod) => <StatusWithMessage summary={summaryOf(pod)} />, width: '1fr' },
        { label: 'Restarts', cell: (pod) => summaryOf(pod).restarts, width: 'auto' },
        { label: 'Node', cell: (pod) => pod.jsonData.spec.nodeName, width: 'auto' },
        { label: 'Age', cell: (pod) => <Age from={pod.metadata.creationTimestamp} />, width: 'auto' },
      ]}
    />
  )
}
