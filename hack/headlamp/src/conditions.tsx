// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { type ReactNode } from 'react'
import { conditionHealth } from '../../../pkg/cli/dashboard/web/src/health'
import type { Condition } from '../../../pkg/cli/dashboard/web/src/types'
import { Age, Status, TableSection } from './parts'

export function Conditions({ conditions = [] }: { conditions?: Condition[] }): ReactNode {
  return (
    <TableSection<Condition>
      title="Conditions"
      rows={conditions}
      empty="None yet."
      columns={[
        { label: 'Type', cell: ({ type }) => type, width: 'auto' },
        { label: 'Status', cell: (condition) => <Status health={conditionHealth(condition, conditions)}>{condition.status}</Status>, width: 'auto' },
        { label: 'Reason', cell: ({ reason }) => reason, width: 'auto' },
        { label: 'Since', cell: ({ lastTransitionTime }) => <Age from={lastTransitionTime} />, width: 'auto' },
        { label: 'Message', cell: ({ message }) => message, width: '1fr' },
      ]}
    />
  )
}
