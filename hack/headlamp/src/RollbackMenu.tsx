// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useState, type ReactNode } from 'react'
import { Button, Menu, MenuItem } from '@mui/material'
import { rollbackAction, type Action } from '../../../pkg/cli/dashboard/web/src/action'
import type { ModelBox } from './classes'
import { useRevisions } from './history'

// RollbackMenu offers the revisions that a box can be rolled back to.
export function RollbackMenu({ object, onAsk }: { object: ModelBox; onAsk: (action: Action) => void }): ReactNode {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const { revisions = [] } = useRevisions(object)
  const earlier = revisions.slice(1).filter(({ unknown }) => !unknown)
  if (earlier.length === 0) return null
  const choose = (revision: number) => {
    setAnchor(null)
    onAsk(rollbackAction(object.box, revision))
  }
  return (
    <>
      <Button variant="outlined" size="small" sx={{ mr: 1 }} aria-haspopup="menu" onClick={(event) => setAnchor(event.currentTarget)}>
        Roll back
      </Button>
      <Menu open={!!anchor} anchorEl={anchor} onClose={() => setAnchor(null)}>
        {earlier.map(({ revision, images }) => (
          <MenuItem key={revision} onClick={() => choose(revision)}>
            Roll back to {revision} ({images?.join(', ')})
          </MenuItem>
        ))}
      </Menu>
    </>
  )
}
