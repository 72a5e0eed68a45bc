// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
	genericfilters "k8s.io/apiserver/pkg/server/filters"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/hostcluster/podaccess"
)

// PodAccessOptions says how much of the pods of boxes is led through this server.
type PodAccessOptions struct {
	// MaxStreams is how many connections there are at a time, of all users together.
	MaxStreams int
	// MaxStreamsPerUser is how many of them one user may have.
	MaxStreamsPerUser int
}

// NewPodAccessOptions returns the defaults.
func NewPodAccessOptions() *PodAccessOptions {
	return &PodAccessOptions{MaxStreams: 500, MaxStreamsPerUser: 100}
}

// AddFlags adds the flags.
func (o *PodAccessOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.MaxStreams, "max-pod-streams", o.MaxStreams, "How many connections to pods this server serves at a time, of exec, attach and portforward of boxes and for each log that is read, and of all users together. One takes some 200 KiB of memory. More are refused with 429.")
	fs.IntVar(&o.MaxStreamsPerUser, "max-pod-streams-per-user", o.MaxStreamsPerUser, "How many of the connections of --max-pod-streams one user may have at a time. More are refused with 429.")
}

// Validate returns every error in the options.
func (o *PodAccessOptions) Validate() []error {
	var errs []error
	if o.MaxStreams < 1 {
		errs = append(errs, fmt.Errorf("--max-pod-streams: %d: must be at least 1", o.MaxStreams))
	}
	if o.MaxStreamsPerUser < 1 {
		errs = append(errs, fmt.Errorf("--max-pod-streams-per-user: %d: must be at least 1", o.MaxStreamsPerUser))
	}
	return errs
}

// ApplyTo adds the options to the configuration of the server. Requests for pods last as long as their users like, as those of
// the same names do in the API server of Kubernetes, and end when this server has answered all others at its shutdown.
func (o *PodAccessOptions) ApplyTo(config *apiserver.Config) error {
	generic := config.GenericConfig
	generic.LongRunningFunc = genericfilters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("log", "exec", "attach", "portforward"))
	limits := podaccess.Limits{Streams: o.MaxStreams, StreamsPerUser: o.MaxStreamsPerUser}
	access, err := podaccess.New(rest.AddUserAgent(rest.CopyConfig(generic.ClientConfig), "pod-access"), limits, generic.DrainedNotify())
	if err != nil {
		return err
	}
	config.ExtraConfig.PodAccess = access
	return nil
}
