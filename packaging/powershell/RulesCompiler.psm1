#Requires -Version 7.0
Set-StrictMode -Version 3.0

# The words that start the program: the one that RULES_COMPILER names, the executable beside this module, the sources of the clone
# that this module is in, or the executable in PATH.
function Get-ProgramWords {
    if ($env:RULES_COMPILER) { return $env:RULES_COMPILER }
    $name = $IsWindows ? 'rules-compiler.exe' : 'rules-compiler'
    $beside = Join-Path $PSScriptRoot $name
    if (Test-Path -LiteralPath $beside -PathType Leaf) { return $beside }
    $source = Join-Path $PSScriptRoot '../../src/cli/bin.ts'
    if (Test-Path -LiteralPath $source -PathType Leaf) { return @('node', $source) }
    $found = Get-Command -Name $name -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($found) { return $found.Source }
    throw 'The rules-compiler executable was not found. Install it, or set RULES_COMPILER to its path.'
}

# Returns what the JSON document of a command has about each list, as one object per list. Problems become warnings and errors.
function Invoke-Program {
    param([Parameter(Mandatory)] [string[]] $Words)
    $start = @(Get-ProgramWords)
    $program = $start[0]
    $all = @($start | Select-Object -Skip 1) + @($Words[0], '--json') + @($Words | Select-Object -Skip 1)
    $lines = & $program @all 2>&1
    $code = $LASTEXITCODE
    $document = [System.Text.StringBuilder]::new()
    foreach ($line in $lines) {
        if ($line -isnot [System.Management.Automation.ErrorRecord]) {
            $null = $document.AppendLine([string] $line)
            continue
        }
        $problem = try { ConvertFrom-Json -InputObject ([string] $line) } catch { $null }
        if ($null -ne $problem -and $problem.severity -eq 'debug') {
            Write-Debug -Message $problem.message
            continue
        }
        $message = $null -eq $problem ? [string] $line : "$($problem.code): $($problem.message)"
        if ($null -ne $problem -and $problem.severity -eq 'error') { Write-Error -Message $message -ErrorAction Continue }
        else { Write-Warning -Message $message }
    }
    if ($document.Length -gt 0) { (ConvertFrom-Json -InputObject $document.ToString()).lists }
    elseif ($code -ne 0) { Write-Error -Message "rules-compiler ended with exit code $code" -ErrorAction Continue }
}

function Get-ConfigWords {
    param([string] $Config)
    if ($Config) { '-c', $Config }
}

<#
.SYNOPSIS
Compiles the lists of a configuration and returns a report for each.
.EXAMPLE
(Invoke-RulesCompiler -Config my-list.yaml).rules
#>
function Invoke-RulesCompiler {
    [CmdletBinding(SupportsShouldProcess)]
    param(
        [Parameter(Position = 0)] [string] $Config,
        [string] $Output,
        [string[]] $ArgumentList = @()
    )
    $words = @('compile') + @(Get-ConfigWords $Config)
    if ($Output) { $words += '-o', $Output }
    if ($PSCmdlet.ShouldProcess($Config ? $Config : 'the default configuration', 'Compile')) {
        Invoke-Program -Words ($words + $ArgumentList)
    }
}

<#
.SYNOPSIS
Checks a configuration without compiling. Returns $true if it is valid.
#>
function Test-RulesConfiguration {
    [CmdletBinding()]
    [OutputType([bool])]
    param([Parameter(Position = 0)] [string] $Config)
    $null = Invoke-Program -Words (@('validate') + @(Get-ConfigWords $Config))
    $LASTEXITCODE -eq 0
}

<#
.SYNOPSIS
Returns what the next publish would change, and whether a guard would refuse it, for each list.
#>
function Get-RulesPlan {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string] $Config)
    Invoke-Program -Words (@('plan') + @(Get-ConfigWords $Config))
}

<#
.SYNOPSIS
Returns for each list whether it blocks names, by which rule, and from which lines of which sources.
.EXAMPLE
('ads.example.com' | Get-RuleReason -Config my-list.yaml).names.verdict
#>
function Get-RuleReason {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory, Position = 0, ValueFromPipeline)] [string[]] $Name,
        [string] $Config
    )
    process { foreach ($one in $Name) { Invoke-Program -Words (@('why') + @(Get-ConfigWords $Config) + @('--', $one)) } }
}

<#
.SYNOPSIS
Returns what each source contributes to the last build of each list.
#>
function Get-RulesStatistic {
    [CmdletBinding()]
    param([Parameter(Position = 0)] [string] $Config)
    Invoke-Program -Words (@('stats') + @(Get-ConfigWords $Config))
}

Export-ModuleMember -Function Invoke-RulesCompiler, Test-RulesConfiguration, Get-RulesPlan, Get-RuleReason, Get-RulesStatistic
