// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

import { useEffect, useMemo, useState, type ReactNode } from 'react'
import { AuthVisible, Dialog } from '@kinvolk/headlamp-plugin/lib/CommonComponents'
import { Button, Checkbox, DialogActions, DialogContent, DialogContentText, FormControlLabel, Typography } from '@mui/material'
import { useSnackbar } from 'notistack'
import type { Action } from '../../../pkg/cli/dashboard/web/src/action'
import { send } from './api'
import type { ModelObject } from './classes'

// Warnings says what the server says of an action. The state of a dry run that has ended has the warnings or an error.
function Warnings({ isAsked, warnings, error }: { isAsked: boolean; warnings?: string[]; error?: Error }): ReactNode {
  if (error) return <Typography color="error">{error.message}</Typography>
  if (!isAsked) return <Typography>Asking the server with a dry run…</Typography>
  if (!warnings) return <Typography>The server accepts it. Headlamp does not let this page read the warnings of the server.</Typography>
  if (warnings.length === 0) return <Typography>The server accepts it, without a warning.</Typography>
  return (
    <>
      <Typography>The server warns:</Typography>
      <ul>
        {warnings.map((warning) => (
          <Typography component="li" key={warning}>
            {warning}
          </Typography>
        ))}
      </ul>
    </>
  )
}

interface Trial {
  action: Action
  warnings?: string[]
  error?: Error
}

// Confirm shows what the server says of an action, without doing it, and does it once it is confirmed.
function Confirm({ object, action: asked, onClose }: { object: ModelObject; action: Action; onClose: () => void }): ReactNode {
  const { enqueueSnackbar } = useSnackbar()
  const [isBusy, setBusy] = useState(false)
  const [isChosen, setChosen] = useState(false)
  const action = useMemo(() => (isChosen ? { ...asked, body: { ...asked.body, ...asked.option?.fields } } : asked), [asked, isChosen])
  const [last, setTrial] = useState<Trial>()
  useEffect(() => {
    let isCurrent = true
    send(object, action, true)
      .then((warnings) => isCurrent && setTrial({ action, warnings }))
      .catch((error: Error) => isCurrent && setTrial({ action, error }))
    return () => {
      isCurrent = false
    }
    // The object of each later version is another one, and its actions are the same.
  }, [action])
  const trial = last?.action === action ? last : undefined
  const confirm = () => {
    setBusy(true)
    send(object, action, false)
      .then(() => {
        enqueueSnackbar(action.done, { variant: 'success' })
        onClose()
      })
      .catch((error: Error) => {
        setBusy(false)
        setTrial({ action, error })
      })
  }
  return (
    <Dialog open title={action.label} onClose={onClose} maxWidth="sm" fullWidth>
      <DialogContent>
        <DialogContentText>{action.question}</DialogContentText>
        {action.option && (
          <AuthVisible item={object} namespace={object.metadata.namespace} authVerb={action.option.access.verb} subresource={action.option.access.subresource}>
            <FormControlLabel
              control={<Checkbox checked={isChosen} disabled={isBusy} onChange={(event) => setChosen(event.target.checked)} />}
              label={action.option.label}
            />
          </AuthVisible>
        )}
        <div role="status">
          <Warnings isAsked={!!trial} warnings={trial?.warnings} error={trial?.error} />
        </div>
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="contained" disabled={!trial || !!trial.error || isBusy} onClick={confirm}>
          {action.label}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

// Actions offers the actions on an object to a user who may do them. The dialog is beside the buttons: a button may go while the user is
// asked. The children are more of what asks about actions.
export function Actions({ object, actions, children }: { object: ModelObject; actions: Action[]; children?: (ask: (action: Action) => void) => ReactNode }): ReactNode {
  const [asked, setAsked] = useState<Action>()
  return (
    <>
      {actions.map((action) => (
        <AuthVisible key={action.label} item={object} namespace={object.metadata.namespace} authVerb={action.access.verb} subresource={action.access.subresource}>
          <Button variant="outlined" size="small" sx={{ mr: 1 }} onClick={() => setAsked(action)}>
            {action.label}
          </Button>
        </AuthVisible>
      ))}
      {children?.(setAsked)}
      {asked && <Confirm object={object} action={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}
