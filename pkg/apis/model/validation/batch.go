// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // An image of the server need not have time zones.

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	// maxCronJobName is the limit of Kubernetes for the name of a CronJob: its Jobs have names with 11 more characters.
	maxCronJobName = validation.DNS1035LabelMaxLength - 11

	// maxIndexedPods is the limit of Kubernetes for the completions and the parallelism of an Indexed Job.
	maxIndexedPods = 100_000
)

// validateBatch validates the fields of a box whose pods run to completion, and refuses these fields for other boxes.
func validateBatch(box *model.ModelBox, path *field.Path) field.ErrorList {
	spec := &box.Spec
	jobPath, cronJobPath := path.Child("job"), path.Child("cronJob")
	var errs field.ErrorList
	switch {
	case spec.CronJob == nil && spec.Workload == model.WorkloadCronJob:
		errs = append(errs, field.Required(cronJobPath, "workload 'CronJob' needs a schedule"))
	case spec.CronJob != nil && spec.Workload != model.WorkloadCronJob:
		errs = append(errs, field.Forbidden(cronJobPath, mustNotUseCronJob))
	case spec.CronJob != nil:
		errs = append(errs, validateCronJob(spec.CronJob, cronJobPath)...)
	}
	switch {
	case spec.Job == nil:
	case !spec.Workload.RunsToCompletion():
		errs = append(errs, field.Forbidden(jobPath, mustNotUseJob))
	default:
		errs = append(errs, validateIndexedJob(box.Name, spec.Job, jobPath)...)
	}
	if !spec.Workload.RunsToCompletion() {
		return errs
	}
	return append(errs, validate.Forbidden(mustNotUseWith(spec.Workload), path, []validate.Field{
		{Name: "replicas", Set: spec.Replicas != nil},
		{Name: "rollingUpdate", Set: spec.RollingUpdate != nil},
		{Name: "minReadySeconds", Set: spec.MinReadySeconds != nil},
		{Name: "progressDeadlineSeconds", Set: spec.ProgressDeadlineSeconds != nil},
		{Name: "revisionHistoryLimit", Set: spec.RevisionHistoryLimit != nil},
		{Name: "resize", Set: spec.Resize != nil},
		// A box with before or after has a rollout by default.
		{Name: "rollout", Set: spec.Rollout != nil && spec.Before == nil && spec.After == nil},
		{Name: "before", Set: spec.Before != nil},
		{Name: "after", Set: spec.After != nil},
		{Name: "autoscaling", Set: spec.Autoscaling != nil},
		{Name: "disruptionBudget", Set: spec.DisruptionBudget != nil},
	})...)
}

// validateIndexedJob has the rules of Kubernetes for Jobs of completion mode Indexed. Each of their pods has the name of the Job and its
// index as its hostname.
func validateIndexedJob(name string, job *model.ModelBoxJobSpec, path *field.Path) field.ErrorList {
	if ptr.Deref(job.CompletionMode, "") != model.JobIndexed {
		return nil
	}
	completionsPath := path.Child("completions")
	if job.Completions == nil {
		return field.ErrorList{field.Required(completionsPath, "completionMode 'Indexed' gives each completion an index")}
	}
	errs := slices.Concat(
		validateAtMost(job.Completions, maxIndexedPods, completionsPath),
		validateAtMost(job.Parallelism, maxIndexedPods, path.Child("parallelism")),
	)
	if hostname := name + "-" + strconv.Itoa(int(*job.Completions)-1); len(hostname) > validation.DNS1123LabelMaxLength {
		errs = append(errs, field.Invalid(completionsPath, *job.Completions, fmt.Sprintf("is too large for the name of the box: the hostname of a pod would be '%s', with more than %d characters", hostname, validation.DNS1123LabelMaxLength)))
	}
	return errs
}

func validateCronJob(cronJob *model.ModelBoxCronJobSpec, path *field.Path) field.ErrorList {
	return slices.Concat(
		validateSchedule(cronJob.Schedule, path.Child("schedule")),
		validateTimeZone(cronJob.TimeZone, path.Child("timeZone")),
	)
}

// validateSchedule accepts what Kubernetes accepts. A tag of the served type requires a schedule.
func validateSchedule(schedule string, path *field.Path) field.ErrorList {
	if schedule == "" {
		return nil
	}
	if strings.Contains(schedule, "TZ") {
		return field.ErrorList{field.Invalid(path, schedule, "must not have a time zone: use `timeZone`")}
	}
	if _, err := cron.ParseStandard(schedule); err != nil {
		return field.ErrorList{field.Invalid(path, schedule, fmt.Sprintf("must be a schedule such as '30 2 * * *', with minute, hour, day of the month, month and day of the week: %v", err))}
	}
	return nil
}

// timeZonePart is a part of the name of a time zone, as Kubernetes accepts it.
var timeZonePart = regexp.MustCompile(`^[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}$`)

// validateTimeZone accepts the time zones that this server knows, which has the database of its Go release.
func validateTimeZone(timeZone *string, path *field.Path) field.ErrorList {
	if timeZone == nil {
		return nil
	}
	isPart := func(part string) bool { return part != "." && part != ".." && timeZonePart.MatchString(part) }
	if slices.ContainsFunc(strings.Split(*timeZone, "/"), func(part string) bool { return !isPart(part) }) || strings.EqualFold(*timeZone, "Local") {
		return field.ErrorList{field.Invalid(path, *timeZone, mustBeTimeZone)}
	}
	if _, err := time.LoadLocation(*timeZone); err != nil {
		return field.ErrorList{field.Invalid(path, *timeZone, mustBeTimeZone)}
	}
	return nil
}
